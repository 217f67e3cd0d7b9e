package httpguard_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
	"github.com/bedrock-go/bedrock/lock/guard/httpguard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
)

// askHanging asks a service with such a store, and returns its answer and what it has logged above debug.
func askHanging(ctx context.Context, asked func(), timeout time.Duration) (status int, logged string) {
	var log bytes.Buffer
	opts := &httpguard.Options{Timeout: timeout, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	handler := httpguard.Handler(http.NotFoundHandler(), guardtest.Hanging{Asked: asked}, opts)
	request := httptest.NewRequestWithContext(ctx, http.MethodPut, "/", nil)
	header.Write(guard.Ticket{Name: "a", Token: 1}, request.Header.Set)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code, log.String()
}

// TestAStoreThatHangsKeepsRequestsWaiting: a holder may be stopped in its transaction for as long as may be.
func TestAStoreThatHangsKeepsRequestsWaiting(t *testing.T) {
	t.Parallel()
	began := time.Now()
	status, logged := askHanging(t.Context(), func() {}, 20*time.Millisecond)
	if took := time.Since(began); status != http.StatusServiceUnavailable || took > 4*time.Second || logged == "" {
		t.Errorf("after %v: %d, log %q", took, status, logged)
	}
}

// TestAClientWhoHangsUpIsNoErrorOfTheStore: alerts are made of what is logged as one.
func TestAClientWhoHangsUpIsNoErrorOfTheStore(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, time.Minute, -1} {
		ctx, hangUp := context.WithCancel(t.Context())
		status, logged := askHanging(ctx, hangUp, timeout)
		if status != http.StatusServiceUnavailable || logged != "" {
			t.Errorf("timeout %v: %d, log %q", timeout, status, logged)
		}
	}
}
