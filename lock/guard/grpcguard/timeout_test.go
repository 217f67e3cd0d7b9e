package grpcguard_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/lock/guard/grpcguard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
)

// incoming is a stream that has just begun.
type incoming struct {
	grpc.ServerStream

	ctx context.Context //nolint:containedctx // a stream has one
}

func (s incoming) Context() context.Context { return s.ctx }

func (incoming) SetTrailer(metadata.MD) {}

// askHanging makes a call and a stream to a server with such a store, and returns what they end with, and what
// was logged above debug.
func askHanging(ctx context.Context, asked func(), timeout time.Duration) (call, stream codes.Code, logged string) {
	var log bytes.Buffer
	opts := &grpcguard.Options{Timeout: timeout, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	ticket := metadata.Pairs(header.Name, "a", header.Token, "1")
	ctx = metadata.NewIncomingContext(ctx, ticket)
	_, err := grpcguard.UnaryServer(guardtest.Hanging{Asked: asked}, opts)(ctx, nil, nil,
		func(context.Context, any) (any, error) { return nil, nil }) //nolint:nilnil // it is not called
	call = status.Code(err)
	err = grpcguard.StreamServer(guardtest.Hanging{Asked: asked}, opts)(nil, incoming{ctx: ctx}, nil,
		func(any, grpc.ServerStream) error { return nil })
	return call, status.Code(err), log.String()
}

// TestAStoreThatHangsKeepsCallsWaiting: a holder may be stopped in its transaction for as long as may be.
func TestAStoreThatHangsKeepsCallsWaiting(t *testing.T) {
	t.Parallel()
	began := time.Now()
	call, stream, logged := askHanging(t.Context(), func() {}, 20*time.Millisecond)
	if took := time.Since(began); call != codes.Unavailable || stream != codes.Unavailable ||
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
		if call != codes.Unavailable || stream != codes.Unavailable || logged != "" {
			t.Errorf("timeout %v: %v, %v, log %q", timeout, call, stream, logged)
		}
	}
}
