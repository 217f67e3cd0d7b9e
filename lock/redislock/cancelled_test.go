package redislock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// TestARequestThatWasCancelledArrivesAfterItsCleanUp: it is held up on its connection, as
// by a packet that has to be sent again, and what cleans up after it takes others. It must
// be waited for all the same.
func TestARequestThatWasCancelledArrivesAfterItsCleanUp(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redislock.Conn) {
		server := testenv.Redis(t, nil)
		proxy := proxyTo(t, server)
		far := connect(t, target{addrs: []string{proxy.Addr()}})
		locks, err := redislock.New(far, &redislock.Options{Profile: redislock.Redlock, Lock: lock.Options{TTL: time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = locks.Close(ctxFor(t)) })
		lease, err := locks.Mutex("warm up", nil).Lock(ctxFor(t)) // connections and scripts are there from here on
		if err != nil || lease.Unlock(ctxFor(t)) != nil {
			t.Fatal(err)
		}
		const late = 2 * time.Second
		proxy.Delay(late)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(late/4, func() { proxy.Delay(0); cancel() }) // so late that its connection is in doubt
		if _, err := locks.Mutex("a", nil).Lock(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		<-time.After(2 * late) // it has arrived, and what came after it
		if left := residue(server); len(left) > 0 {
			t.Errorf("locks that nobody has: %v", left)
		}
	})
}
