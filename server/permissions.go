package server

import (
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
	"github.com/bedrock-go/bedrock/server/auth"
)

// procedure is one call of the API, or a request to what stands beside it.
type procedure struct {
	least   auth.Role // the least role that may make it
	stream  bool      // it lasts as long as its caller wants
	mounted bool      // it is none of the API
}

// procedures lists every call of the API. One that is missing is refused to all.
func procedures() map[string]procedure {
	return map[string]procedure{
		bedrockv1connect.TransactionServiceSubmitProcedure:      {least: auth.Client},
		bedrockv1connect.TransactionServiceWaitProcedure:        {least: auth.Viewer},
		bedrockv1connect.TransactionServiceBeginProcedure:       {least: auth.Client},
		bedrockv1connect.TransactionServiceEnlistProcedure:      {least: auth.Client},
		bedrockv1connect.TransactionServiceCommitProcedure:      {least: auth.Client},
		bedrockv1connect.TransactionServiceRollBackProcedure:    {least: auth.Client},
		bedrockv1connect.TransactionServiceGetProcedure:         {least: auth.Viewer},
		bedrockv1connect.TransactionServiceListProcedure:        {least: auth.Viewer},
		bedrockv1connect.TransactionServiceWatchProcedure:       {least: auth.Viewer, stream: true},
		bedrockv1connect.TransactionServiceActProcedure:         {least: auth.Operator},
		bedrockv1connect.TransactionServiceSubscribeProcedure:   {least: auth.Operator},
		bedrockv1connect.TransactionServiceUnsubscribeProcedure: {least: auth.Operator},
		bedrockv1connect.TransactionServiceSubscribersProcedure: {least: auth.Viewer},

		bedrockv1connect.LockServiceAcquireProcedure:      {least: auth.Client},
		bedrockv1connect.LockServiceAcquireAllProcedure:   {least: auth.Client},
		bedrockv1connect.LockServiceRenewProcedure:        {least: auth.Client},
		bedrockv1connect.LockServiceReleaseProcedure:      {least: auth.Client},
		bedrockv1connect.LockServiceAnnotateProcedure:     {least: auth.Client},
		bedrockv1connect.LockServiceDowngradeProcedure:    {least: auth.Client},
		bedrockv1connect.LockServiceSetLatchProcedure:     {least: auth.Client},
		bedrockv1connect.LockServiceCountDownProcedure:    {least: auth.Client},
		bedrockv1connect.LockServiceLatchCountProcedure:   {least: auth.Viewer},
		bedrockv1connect.LockServiceDropLatchProcedure:    {least: auth.Client},
		bedrockv1connect.LockServiceListenProcedure:       {least: auth.Viewer, stream: true},
		bedrockv1connect.LockServiceAskProcedure:          {least: auth.Client},
		bedrockv1connect.LockServiceAttendProcedure:       {least: auth.Client, stream: true},
		bedrockv1connect.LockServiceInspectProcedure:      {least: auth.Viewer},
		bedrockv1connect.LockServiceBrowseProcedure:       {least: auth.Viewer},
		bedrockv1connect.LockServiceForceReleaseProcedure: {least: auth.Operator},
		bedrockv1connect.LockServiceDiagnoseProcedure:     {least: auth.Viewer},
		bedrockv1connect.LockServiceIdentifyProcedure:     {least: auth.Viewer},

		healthCheck:     {least: auth.Nobody},
		healthWatch:     {least: auth.Nobody},
		reflection:      {least: auth.Viewer, stream: true},
		reflectionAlpha: {least: auth.Viewer, stream: true},
	}
}

// apiPrefix begins the path of every call of the services.
const apiPrefix = "/bedrock.v1."
