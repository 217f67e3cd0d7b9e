package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// TestWaitAsksAnotherConnection freezes a replica that has acknowledged all
// there was: whoever asks on a connection that did not write the grant is told
// that the replica is up to date.
func TestWaitAsksAnotherConnection(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redislock.Conn) {
		master := testenv.Redis(t, nil)
		replica := testenv.Redis(t, &testenv.RedisOptions{ReplicaOf: master})
		b := open(t, connect(t, single(master)), &redislock.Options{Acks: 1, AckTimeout: time.Second})
		mustRelease(t, b, acquireInTheEnd(t, b, request("a", uuidA+":1"))) // a new replica begins to acknowledge within a second
		awaitAck(ctxFor(t), t, master)
		replica.Freeze()
		defer replica.Thaw()
		g, err := b.Acquire(ctxFor(t), request("a", uuidA+":2"))
		if _, ok := errors.AsType[*redislock.AckError](err); !ok {
			t.Fatalf("want an AckError, got the grant %+v and %v", g, err)
		}
	})
}

// awaitAck waits until the master knows that its replica has everything.
func awaitAck(ctx context.Context, t *testing.T, master *testenv.RedisServer) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(master.Info("slave0"), fmt.Sprintf("offset=%s,", master.Info("master_repl_offset"))) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the replica has not acknowledged: %s", master.Info("slave0"))
		}
	}
}
