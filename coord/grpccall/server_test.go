package grpccall_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bedrock-go/bedrock/coord/grpccall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/grpcpart"
)

// method is a participant: test.Stock/Deduct.
type method func(ctx context.Context, in *wrapperspb.StringValue) (*wrapperspb.StringValue, error)

// serve starts a grpc-go server with that method and returns its address.
func serve(t testing.TB, config *tls.Config, f method) string {
	t.Helper()
	options := []grpc.ServerOption{
		grpc.UnaryInterceptor(grpcpart.Interceptor(&grpcpart.Options{Logger: slog.New(slog.DiscardHandler)})),
		grpc.MaxSendMsgSize(1 << 30),
	}
	if config != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	s := grpc.NewServer(options...)
	s.RegisterService(describe(f), nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { s.Stop(); running.Wait() })
	return l.Addr().String()
}

// describe is what protoc would generate for a service of one method.
func describe(f method) *grpc.ServiceDesc {
	handle := func(_ any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any,
		error,
	) {
		in := new(wrapperspb.StringValue)
		if err := decode(in); err != nil {
			return nil, err
		}
		call := func(ctx context.Context, in any) (any, error) { return f(ctx, in.(*wrapperspb.StringValue)) }
		return interceptor(ctx, in, &grpc.UnaryServerInfo{FullMethod: "/test.Stock/Deduct"}, call)
	}
	return &grpc.ServiceDesc{
		ServiceName: "test.Stock",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Deduct", Handler: handle}},
	}
}

// caller returns a Caller that is closed with the test.
func caller(t testing.TB, opts *grpccall.Options) *grpccall.Caller {
	t.Helper()
	c, err := grpccall.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func call(text string) txn.Call {
	return txn.Call{
		Transaction: "order-1", Branch: "stock", Op: "try", Mode: "tcc", Attempt: 2, Epoch: 9,
		Payload: encode(text), Result: []byte{0, 1},
		Headers: map[string]string{"traceparent": "00-1-2-01", "x-raw-bin": "\xff\x00"},
	}
}

func encode(text string) []byte {
	b, err := proto.Marshal(wrapperspb.String(text))
	if err != nil {
		panic(err)
	}
	return b
}
