package redisconn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestPipelineThatWasLeftIsTakenForOver: its caller has left, and the server has not answered
// yet. Whoever cleans up after it has to wait for its real end.
func TestPipelineThatWasLeftIsTakenForOver(t *testing.T) {
	for way, limit := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": context.WithCancel,
		"timed out": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
	} {
		for library, connect := range connectors() {
			t.Run(library+"/"+way, func(t *testing.T) {
				t.Parallel()
				server, proxy, conn, _ := behindProxy(t, connect)
				proxy.BlackHole(chaos.Replies)
				ctx, cancel := limit(t.Context())
				defer cancel()
				came := make(chan []redisconn.Result, 1)
				go func() { came <- conn.Pipeline(ctx, pushed()) }()
				server.Do("BLPOP", "k", "0") // it has been sent
				if way == "cancelled" {
					cancel()
				}
				wantUnderway(t, <-came, proxy.Heal)
			})
		}
	}
}

// wantUnderway wants calls that end when the connection does.
func wantUnderway(t *testing.T, results []redisconn.Result, cut func()) {
	t.Helper()
	for _, result := range results {
		call, left := errors.AsType[*redisconn.UnderwayError](result.Err)
		if !left {
			t.Fatalf("want a call that is under way, got %v", result.Err)
		}
		select {
		case <-call.Ended:
			t.Fatal("it was told to have ended")
		case <-time.After(100 * time.Millisecond):
		}
		defer func() { <-call.Ended }()
	}
	cut()
}

// TestPipelineIsSentForNobody: what was left before it was sent is not sent any more.
func TestPipelineIsSentForNobody(t *testing.T) {
	for library, connect := range connectors() {
		t.Run(library, func(t *testing.T) {
			t.Parallel()
			server, _, conn, _ := behindProxy(t, connect)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for range 20 {
				for _, result := range conn.Pipeline(ctx, pushed()) {
					if call, left := errors.AsType[*redisconn.UnderwayError](result.Err); left {
						<-call.Ended
					}
					if !errors.Is(result.Err, context.Canceled) {
						t.Errorf("want the context's error, got %v", result.Err)
					}
				}
			}
			if server.Do("EXISTS", "k") != int64(0) {
				t.Error("it was sent")
			}
		})
	}
}
