package grpcpart_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/grpcpart"
)

// How calls arrive from a coordinator is tested with its other end, in package
// grpccall.

// intercept handles a request with these metadata.
func intercept(opts *grpcpart.Options, header metadata.MD, next grpc.UnaryHandler) (any, error) {
	ctx := metadata.NewIncomingContext(context.Background(), header)
	return grpcpart.Interceptor(opts)(ctx, "request", &grpc.UnaryServerInfo{}, next)
}

func inTransaction() metadata.MD {
	return metadata.Pairs("bedrock-transaction", "t", "bedrock-branch", "b", "bedrock-operation", "try", "traceparent",
		"p")
}

func TestAHandlerFindsItsCall(t *testing.T) {
	response, err := intercept(nil, inTransaction(), func(ctx context.Context, req any) (any, error) {
		call, ok := txn.CallFrom(ctx)
		if !ok || call.Transaction != "t" || call.Branch != "b" || call.Op != "try" ||
			call.Headers["traceparent"] != "p" || req != "request" {
			t.Errorf("%+v", call)
		}
		return "response", nil
	})
	if response != "response" || err != nil {
		t.Error(response, err)
	}
}

func TestOtherCallsGoThrough(t *testing.T) {
	abort := txn.Abort(errors.New("not a transaction"))
	for _, header := range []metadata.MD{nil, metadata.Pairs("traceparent", "p")} {
		_, err := intercept(nil, header, func(ctx context.Context, _ any) (any, error) {
			if _, ok := txn.CallFrom(ctx); ok {
				t.Error("a call without a transaction")
			}
			return nil, abort
		})
		if err != abort { //nolint:errorlint // the very error
			t.Error(err)
		}
	}
}

func TestWhatIsHalfACallIsRefused(t *testing.T) {
	_, err := intercept(nil, metadata.Pairs("bedrock-transaction", "t"), func(context.Context, any) (any, error) {
		t.Error("called")
		return "response", nil
	})
	if status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
}

func TestAHandlerThatCannotReadItsCall(t *testing.T) {
	_, err := intercept(nil, inTransaction(), func(context.Context, any) (any, error) {
		return nil, fmt.Errorf("stock: %w", txn.ErrMalformed)
	})
	if status.Code(err) != codes.InvalidArgument || status.Convert(err).Message() != "stock: the call cannot be read" {
		t.Error(err)
	}
}

func TestAResponseBesideAnErrorIsDropped(t *testing.T) {
	response, err := intercept(nil, inTransaction(), func(context.Context, any) (any, error) {
		return "response", txn.Abort(errors.New("no"))
	})
	if response != nil || status.Code(err) != codes.Aborted {
		t.Error(response, err)
	}
}

func TestAPanicIsLogged(t *testing.T) {
	var log bytes.Buffer
	opts := &grpcpart.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	response, err := intercept(opts, inTransaction(), func(context.Context, any) (any, error) { panic("secret") })
	if response != nil || status.Code(err) != codes.Internal || strings.Contains(err.Error(), "secret") {
		t.Error(response, err)
	}
	if !strings.Contains(log.String(), "panic=secret transaction=t branch=b op=try") {
		t.Error(log.String())
	}
}
