package quorum_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// TestAnythingGoesWrong: three clients want one lock, over lines that fail in all ways. There is one holder at a time,
// tokens rise, and in the end nothing is left.
func TestAnythingGoesWrong(t *testing.T) { hunt(t, false) }

func hunt(t *testing.T, deadlines bool) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 1))
			shapes := [][3]int{{3, 0, 0}, {5, 0, 0}, {4, 3, 0}, {5, 0, 1}, {5, 4, 0}, {6, 4, 1}}
			shape := shapes[dice.IntN(len(shapes))] // nodes, majority, surplus
			ttls := []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second, time.Hour}
			ttl := ttls[dice.IntN(len(ttls))]
			opts := &quorum.Options{Majority: shape[1], Surplus: shape[2], Lock: lock.Options{TTL: ttl}}
			several(t, shape[0], func(t *testing.T, nodes severaltest.Servers) {
				h := &hunter{T: t, dice: dice, ttl: ttl, nodes: nodes, deadlines: deadlines}
				h.run(opts)
			})
		})
	}
}

// hunter lets things go wrong.
type hunter struct {
	*testing.T
	dice      *rand.Rand
	ttl       time.Duration
	nodes     severaltest.Servers
	deadlines bool
	end       time.Time

	mu     sync.Mutex
	last   uint64
	holder *lock.Lease
}

// run lets three clients contend for 20 s while the lines fail.
func (h *hunter) run(opts *quorum.Options) {
	h.end = time.Now().Add(20 * time.Second)
	members := []*member{join(h.T, h.nodes, opts), join(h.T, h.nodes, opts), join(h.T, h.nodes, opts)}
	var group sync.WaitGroup
	for _, m := range members {
		dice := rand.New(rand.NewPCG(h.dice.Uint64(), 2))
		group.Go(func() {
			for time.Now().Before(h.end) {
				h.takeOnce(m, dice)
				pass(time.Duration(dice.IntN(20)) * time.Millisecond)
			}
		})
	}
	for time.Now().Before(h.end) {
		pass(time.Duration(h.dice.IntN(200)) * time.Millisecond)
		lines := members[h.dice.IntN(len(members))].lines
		h.disturb(lines[h.dice.IntN(len(lines))])
	}
	for _, m := range members {
		for _, line := range m.lines {
			line.Thaw()
			line.Up()
			line.Lag(0)
		}
	}
	group.Wait()
	wantNothingLeft(h.T, h.nodes, time.Minute)
}

// takeOnce tries to take the lock, and keeps it for a while.
func (h *hunter) takeOnce(m *member, dice *rand.Rand) {
	longest := time.Duration(1+dice.IntN(2000)) * time.Millisecond
	ctx, cancel := context.WithCancel(h.Context())
	if h.deadlines {
		ctx, cancel = context.WithTimeout(h.Context(), longest)
	} else {
		time.AfterFunc(longest, cancel)
	}
	defer cancel()
	ask := m.Mutex("a", nil).Lock
	if dice.IntN(3) == 0 {
		ask = m.Mutex("a", nil).TryLock
	}
	lease, err := ask(ctx)
	if err != nil {
		return
	}
	h.enter(lease)
	pass(time.Duration(dice.IntN(int(min(3*h.ttl, time.Second)))))
	h.leave(lease)
	_ = lease.Unlock(ctx) // it may be lost
}

func (h *hunter) enter(lease *lock.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := h.holder; other != nil && other.State() == lock.Held && lease.State() == lock.Held {
		h.Errorf("two have the lock: token %d, %+v, and token %d, %+v",
			other.Token(), other.Spread(), lease.Token(), lease.Spread())
	}
	if lease.Token() <= h.last {
		h.Errorf("token %d after %d", lease.Token(), h.last)
	}
	h.last, h.holder = lease.Token(), lease
}

func (h *hunter) leave(lease *lock.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holder == lease {
		h.holder = nil
	}
}

// disturb has something go wrong on a line.
func (h *hunter) disturb(line *bedrocktest.Backend) {
	methods := []bedrocktest.Method{bedrocktest.Acquire, bedrocktest.Release, bedrocktest.Renew, bedrocktest.Watch}
	method := methods[h.dice.IntN(len(methods))]
	short, long := time.Duration(h.dice.IntN(500))*time.Millisecond, time.Duration(h.dice.IntN(1500))*time.Millisecond
	switch h.dice.IntN(8) {
	case 0:
		line.Fail(method, bedrocktest.Fault{Before: driver.ErrUnavailable})
	case 1:
		line.LoseReply(method)
	case 2:
		line.Fail(method, bedrocktest.Fault{Delay: short})
	case 3:
		line.Fail(method, bedrocktest.Fault{Linger: short})
	case 4:
		line.Lag(short)
	case 5:
		line.Lag(0)
	case 6:
		line.Freeze()
		time.AfterFunc(long, line.Thaw)
	case 7:
		line.Down()
		time.AfterFunc(long, line.Up)
	}
}
