package zklock_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
)

// TestBrokenLinesLeaveNodes has all kinds of locks contended for over lines that break, and lose replies: nobody meets
// somebody else inside, and nothing is left behind.
func TestBrokenLinesLeaveNodes(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	var (
		all     sync.WaitGroup
		proxies []*chaos.Proxy
		inside  rooms
	)
	ctx, end := context.WithTimeout(ctxFor(t), 8*time.Second)
	defer end()
	for range 3 {
		proxy := proxyTo(t, server.Addr())
		proxies = append(proxies, proxy)
		locks := connect(t, nil, proxy.Addr())
		rw, permits := locks.RWMutex("rw", nil), locks.Semaphore("s", 4, nil)
		for _, side := range []struct {
			lock   lock.Lockable
			weight int32
			room   *atomic.Int32
			most   int32
		}{
			{rw.Writer(), 100, &inside.readWrite, 100},
			{rw.Reader(), 1, &inside.readWrite, 99},
			{permits, 1, &inside.permits, 4},
			{permits.Permits(3), 3, &inside.permits, 4},
			{locks.Mutex("m", nil), 1, &inside.mutex, 1},
		} {
			all.Go(func() {
				for ctx.Err() == nil {
					if holdOnce(ctx, t, side.lock, side.room, side.weight, side.most) {
						inside.taken.Add(1)
					}
				}
			})
		}
	}
	storm(ctx, proxies)
	all.Wait()
	lost := 0
	for _, proxy := range proxies {
		lost += proxy.Evidence().RepliesLost
	}
	if lost == 0 || inside.taken.Load() < 100 {
		t.Errorf("%d replies were lost, and %d locks taken", lost, inside.taken.Load())
	}
	other := raw(t, server)
	eventually(t, "nothing is left behind", func() bool {
		return len(contenders(t, other, "/bedrock/lock")) == 0
	})
}

// rooms count who is inside, each by its weight.
type rooms struct{ readWrite, permits, mutex, taken atomic.Int32 }

// holdOnce has a lock for a moment, in company that may weigh so much. It reports whether it has had it.
func holdOnce(ctx context.Context, t *testing.T, l lock.Lockable, room *atomic.Int32, weight, most int32) bool {
	lease, err := l.Lock(ctx)
	if err != nil {
		return false // it is over, or an answer was lost
	}
	if now := room.Add(weight); now > most && lease.Err() == nil {
		t.Errorf("inside weigh %d, at most %d may", now, most)
	}
	<-time.After(time.Millisecond)
	room.Add(-weight)
	_ = lease.Unlock(context.WithoutCancel(ctx)) // its answer may be lost, too
	return true
}

// storm breaks lines, and loses replies, until the context ends.
func storm(ctx context.Context, proxies []*chaos.Proxy) {
	for i := 0; ctx.Err() == nil; i++ {
		proxy := proxies[i%len(proxies)]
		switch i % 4 {
		case 0:
			breakOnce(proxy)
		case 1:
			proxy.DropRepliesTo("lease-", 1)
		default:
			proxy.DropRepliesTo("__", 1)
		}
		select {
		case <-ctx.Done():
		case <-time.After(150 * time.Millisecond):
		}
	}
	for _, proxy := range proxies {
		proxy.DropReplies(0)
		proxy.Heal()
	}
}
