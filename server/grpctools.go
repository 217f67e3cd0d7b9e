package server

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"

	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// Procedures that gRPC's tools expect of every server.
const (
	healthCheck     = "/grpc.health.v1.Health/Check"
	healthWatch     = "/grpc.health.v1.Health/Watch"
	reflection      = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	reflectionAlpha = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
)

// grpcTools mounts gRPC's health service, and reflection, by which grpcurl and others
// know the API without its files.
func grpcTools(routes *http.ServeMux, h *health, services []string) {
	routes.Handle(grpchealth.NewHandler(&checker{h, services}))
	reflector := grpcreflect.NewStaticReflector(append(services, grpchealth.HealthV1ServiceName)...)
	routes.Handle(grpcreflect.NewHandlerV1(reflector))
	routes.Handle(grpcreflect.NewHandlerV1Alpha(reflector))
}

// serviceNames are those of the services a server has.
func serviceNames(s *Services) []string {
	var names []string
	if s.Coordinator != nil {
		names = append(names, bedrockv1connect.TransactionServiceName)
	}
	if s.Locks != nil {
		names = append(names, bedrockv1connect.LockServiceName)
	}
	return names
}

// checker answers as /readyz does, for any of the services.
type checker struct {
	health   *health
	services []string
}

var errNoService = errors.New("this server has no such service")

// Check implements [grpchealth.Checker].
func (c *checker) Check(ctx context.Context, req *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	if req.Service != "" && !slices.Contains(c.services, req.Service) {
		return nil, connect.NewError(connect.CodeNotFound, errNoService)
	}
	answer := &grpchealth.CheckResponse{Status: grpchealth.StatusServing}
	if c.health.whyNotReady(ctx) != nil {
		answer.Status = grpchealth.StatusNotServing
	}
	return answer, nil
}
