package connectguard_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/connectguard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
)

// incoming is a stream that has just begun.
type incoming struct {
	connect.StreamingHandlerConn

	sent http.Header
}

func (s incoming) RequestHeader() http.Header { return s.sent }

// askHanging makes a call and a stream to a server with such a store, and returns what they end with, and what
// was logged above debug.
func askHanging(ctx context.Context, asked func(), timeout time.Duration) (call, stream connect.Code, logged string) {
	var log bytes.Buffer
	opts := &connectguard.Options{Timeout: timeout, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	server := connectguard.Server(guardtest.Hanging{Asked: asked}, opts)
	request := connect.NewRequest(&text{})
	header.Write(guard.Ticket{Name: "a", Token: 1}, request.Header().Set)
	_, failed := server.WrapUnary(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
		return connect.NewResponse(&text{}), nil
	})(ctx, request)
	ended := server.WrapStreamingHandler(func(context.Context, connect.StreamingHandlerConn) error {
		return nil
	})(ctx, incoming{sent: request.Header()})
	return connect.CodeOf(failed), connect.CodeOf(ended), log.String()
}

// TestAStoreThatHangsKeepsCallsWaiting: a holder may be stopped in its transaction for as long as may be.
func TestAStoreThatHangsKeepsCallsWaiting(t *testing.T) {
	t.Parallel()
	began := time.Now()
	call, stream, logged := askHanging(t.Context(), func() {}, 20*time.Millisecond)
	if took := time.Since(began); call != connect.CodeUnavailable || stream != connect.CodeUnavailable ||
		took > 4*time.Second || logged == "" {
		t.Errorf("after %v: %v, %v, log %q", took, call, stream, logged)
	}
}

// TestAClientWhoHangsUpIsNoErrorOfTheStore: alerts are made of what is logged as one.
func TestAClientWhoHangsUpIsNoErrorOfTheStore(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, time.Minute, -1} {
		ctx, hangUp := context.WithCancel(t.Context())
		call, stream, logged := askHanging(ctx, hangUp, timeout)
		if call != connect.CodeUnavailable || stream != connect.CodeUnavailable || logged != "" {
			t.Errorf("timeout %v: %v, %v, log %q", timeout, call, stream, logged)
		}
	}
}
