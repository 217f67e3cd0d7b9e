package guardtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The methods of the service that tests of gRPC have: to replace the value of a shelf, and to read it as a stream.
const (
	ServiceName = "test.Shelf"
	PutMethod   = "/test.Shelf/Put"
	PutsMethod  = "/test.Shelf/Puts"
)

// Text is the message that all of them send and return.
type Text = wrapperspb.StringValue

// Service does what the methods do. Puts is called once for each message of a stream.
type Service struct {
	Put func(ctx context.Context, value string) (string, error)
}

// Description returns the service for a grpc-go server.
func (s *Service) Description() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: ServiceName,
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Put", Handler: s.handlePut}},
		Streams: []grpc.StreamDesc{
			{StreamName: "Puts", Handler: s.handlePuts, ServerStreams: true, ClientStreams: true},
		},
	}
}

func (s *Service) handlePut(
	srv any, ctx context.Context, //nolint:revive // the order is that of grpc-go
	decode func(any) error, intercept grpc.UnaryServerInterceptor,
) (any, error) {
	request := &Text{}
	if err := decode(request); err != nil {
		return nil, err
	}
	answer := func(ctx context.Context, _ any) (any, error) {
		reply, err := s.Put(ctx, request.GetValue())
		return wrapperspb.String(reply), err
	}
	return intercept(ctx, request, &grpc.UnaryServerInfo{Server: srv, FullMethod: PutMethod}, answer)
}

// handlePuts answers each message of a stream.
func (s *Service) handlePuts(_ any, stream grpc.ServerStream) error {
	for {
		request := &Text{}
		if err := stream.RecvMsg(request); err != nil {
			return nil //nolint:nilerr // the caller has sent all
		}
		reply, err := s.Put(stream.Context(), request.GetValue())
		if err == nil {
			err = stream.SendMsg(wrapperspb.String(reply))
		}
		if err != nil {
			return err
		}
	}
}

// ServeHTTP2 starts a server for handlers of connect, without TLS.
func ServeHTTP2(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}
