package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// Role is what a client may do. Each includes those before it.
type Role uint8

const (
	// Nobody may only ask whether the server lives.
	Nobody Role = iota
	// Viewer may look at transactions and locks.
	Viewer
	// Client may submit and complete transactions, and lock.
	Client
	// Operator may intervene, take locks away and subscribe to topics.
	Operator
	// Admin may do everything.
	Admin
)

// String is the role's name.
func (r Role) String() string {
	return [...]string{"nobody", "viewer", "client", "operator", "admin"}[min(r, Admin)]
}

// ParseRole reads a role's name.
func ParseRole(name string) (Role, error) {
	for r := Viewer; r <= Admin; r++ {
		if r.String() == name {
			return r, nil
		}
	}
	return Nobody, fmt.Errorf("%.40q is no role: want viewer, client, operator or admin", name)
}

// procedure is one call of the API.
type procedure struct {
	least  Role // the least role that may make it
	stream bool // it lasts as long as its caller wants
}

// procedures lists every call of the API. One that is missing is refused to all.
func procedures() map[string]procedure {
	return map[string]procedure{
		bedrockv1connect.TransactionServiceSubmitProcedure:      {least: Client},
		bedrockv1connect.TransactionServiceWaitProcedure:        {least: Viewer},
		bedrockv1connect.TransactionServiceBeginProcedure:       {least: Client},
		bedrockv1connect.TransactionServiceEnlistProcedure:      {least: Client},
		bedrockv1connect.TransactionServiceCommitProcedure:      {least: Client},
		bedrockv1connect.TransactionServiceRollBackProcedure:    {least: Client},
		bedrockv1connect.TransactionServiceGetProcedure:         {least: Viewer},
		bedrockv1connect.TransactionServiceListProcedure:        {least: Viewer},
		bedrockv1connect.TransactionServiceWatchProcedure:       {least: Viewer, stream: true},
		bedrockv1connect.TransactionServiceActProcedure:         {least: Operator},
		bedrockv1connect.TransactionServiceSubscribeProcedure:   {least: Operator},
		bedrockv1connect.TransactionServiceUnsubscribeProcedure: {least: Operator},
		bedrockv1connect.TransactionServiceSubscribersProcedure: {least: Viewer},

		bedrockv1connect.LockServiceAcquireProcedure:      {least: Client},
		bedrockv1connect.LockServiceRenewProcedure:        {least: Client},
		bedrockv1connect.LockServiceReleaseProcedure:      {least: Client},
		bedrockv1connect.LockServiceListenProcedure:       {least: Viewer, stream: true},
		bedrockv1connect.LockServiceInspectProcedure:      {least: Viewer},
		bedrockv1connect.LockServiceBrowseProcedure:       {least: Viewer},
		bedrockv1connect.LockServiceForceReleaseProcedure: {least: Operator},
		bedrockv1connect.LockServiceDiagnoseProcedure:     {least: Viewer},

		healthCheck:     {least: Nobody},
		healthWatch:     {least: Nobody},
		reflection:      {least: Viewer, stream: true},
		reflectionAlpha: {least: Viewer, stream: true},
	}
}

// apiPrefix begins the path of every call of the API.
const apiPrefix = "/bedrock.v1."

// aliveness is the page that tells that the server lives.
const aliveness = "/livez"

// alive tells whether a request asks just that.
func alive(r *http.Request) bool {
	return r.URL.Path == aliveness && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// open are the pages that tell nothing but how the server is.
func open(path string) bool { return path == aliveness || path == "/readyz" || path == "/healthz" }

// page is the least role for what is not the API. Whatever may change something
// needs an operator.
func page(r *http.Request) Role {
	switch {
	case open(r.URL.Path):
		return Nobody
	case strings.HasPrefix(r.URL.Path, apiPrefix):
		return Admin
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return Viewer
	default:
		return Operator
	}
}
