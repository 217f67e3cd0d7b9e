package etcdlock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// lease is one of the store's, which keeps all grants of a client whose time is about as long. It counts from when it
// was asked for, not from when the answer came: by then some of it may be over.
type lease struct {
	id     clientv3.LeaseID
	asked  int64 // seconds
	length time.Duration

	mu    sync.Mutex
	until time.Duration // by the boot clock
	term  uint64        // of the leader that has said so
	gone  bool          // the store does not know it any more
	left  bool          // it is not prolonged any more: see letRunOut
}

// leases are those of a client, by how long they live.
type leases struct {
	client *clientv3.Client

	mu    sync.Mutex
	byTTL map[int64]*leaseSlot
}

// leaseSlot has the lease of a length that is in use. One that is over is replaced.
type leaseSlot struct {
	turn    chan struct{}
	mu      sync.Mutex
	present *lease
}

func newLeases(client *clientv3.Client) *leases {
	return &leases{client: client, byTTL: make(map[int64]*leaseSlot)}
}

// leaseLength returns for how many seconds a lease lives that keeps grants of so long. It lives for longer, so that
// it need not be prolonged for each of them.
func leaseLength(life time.Duration) int64 {
	slack := max(time.Second, life/10)
	return int64((life + slack + time.Second - 1) / time.Second)
}

// slot returns where leases of a length are.
func (ls *leases) slot(length int64) *leaseSlot {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	s := ls.byTTL[length]
	if s == nil {
		s = &leaseSlot{turn: make(chan struct{}, 1)}
		ls.byTTL[length] = s
	}
	return s
}

// inUse returns the leases in use.
func (ls *leases) inUse() (all []*lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, s := range ls.byTTL {
		if l := s.get(); l != nil {
			all = append(all, l)
		}
	}
	return all
}

// isInUse reports whether that is one of the leases in use. Each other one of this client is gone, or runs out.
func (ls *leases) isInUse(id clientv3.LeaseID) bool {
	for _, l := range ls.inUse() {
		if l.id == id {
			return true
		}
	}
	return false
}

func (s *leaseSlot) get() *lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.present
}

func (s *leaseSlot) replace(l *lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present = l
}

// leaseFor returns a lease that lives for so long from now on, at least.
func (ls *leases) leaseFor(ctx context.Context, life time.Duration) (*lease, error) {
	s := ls.slot(leaseLength(life))
	if l := s.get(); l.outlives(bootclock.Now() + life) {
		return l, nil
	}
	if err := takeTurn(ctx, s.turn); err != nil {
		return nil, err
	}
	defer func() { <-s.turn }()
	l := s.get()
	if l.outlives(bootclock.Now() + life) {
		return l, nil
	}
	if l != nil && !l.isOver() && !l.isLeft() {
		if err := ls.prolong(ctx, l); err == nil {
			return l, nil
		} else if !isNoLease(err) {
			return nil, err
		}
	}
	l, err := ls.makeLease(ctx, leaseLength(life))
	if err != nil {
		return nil, err
	}
	s.replace(l)
	return l, nil
}

// takeTurn waits until nobody else has it.
func takeTurn(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// outlives reports whether the lease is known to live until then.
func (l *lease) outlives(at time.Duration) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.gone && l.until >= at
}

// isOver reports whether the store has no such lease any more, or nobody knows: what was kept by it is lost.
func (l *lease) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// markGone enters that the store does not know the lease any more.
func (l *lease) markGone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
}

// letRunOut has the lease end in time: a request that has no answer may come to the store at any time, and make a key
// by it that nobody knows of. Grants that are kept by the lease go over to another one when they are renewed.
func (l *lease) letRunOut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = true
}

// isLeft reports whether the lease is not to be prolonged.
func (l *lease) isLeft() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// isOfTerm reports whether the lease was prolonged by the leader of a term.
func (l *lease) isOfTerm(term uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.term == term
}

// makeLease makes a lease. One whose answer is lost runs out. Like the one below it does without the method of the
// client, which asks again and again, without a pause or a hundred times, while no server can be reached.
func (ls *leases) makeLease(ctx context.Context, length int64) (*lease, error) {
	sent := bootclock.Now()
	resp, err := etcdserverpb.NewLeaseClient(ls.client.ActiveConnection()).LeaseGrant(
		clientv3.WithRequireLeader(ctx), &etcdserverpb.LeaseGrantRequest{TTL: length})
	switch {
	case err != nil && ctx.Err() != nil && isConnecting(ls.client): // that, and not the end of its time, is to be told
		return nil, fmt.Errorf("%w: %s: %s", driver.ErrUnavailable, addressOf(ls.client), unanswered)
	case err != nil:
		return nil, fmt.Errorf("make a lease at %s: %w", addressOf(ls.client), clientv3.ContextError(ctx, err))
	}
	l := &lease{id: clientv3.LeaseID(resp.ID), asked: length, length: time.Duration(resp.TTL) * time.Second}
	l.term = resp.GetHeader().GetRaftTerm()
	l.until = sent + l.length
	return l, nil
}

// prolong has the lease live anew for its whole length.
func (ls *leases) prolong(ctx context.Context, l *lease) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel() // it ends the stream
	sent := bootclock.Now()
	resp, err := askOnce(ctx, etcdserverpb.NewLeaseClient(ls.client.ActiveConnection()), l.id)
	if err == nil && resp.TTL <= 0 {
		err = rpctypes.ErrLeaseNotFound
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.gone = l.gone || isNoLease(err)
		return fmt.Errorf("prolong a lease: %w", err)
	}
	l.until, l.term = sent+time.Duration(resp.TTL)*time.Second, resp.GetHeader().GetRaftTerm()
	return nil
}

// askOnce asks to prolong a lease over a stream of its own.
func askOnce(
	ctx context.Context, client etcdserverpb.LeaseClient, id clientv3.LeaseID,
) (*etcdserverpb.LeaseKeepAliveResponse, error) {
	stream, err := client.LeaseKeepAlive(ctx)
	if err != nil {
		return nil, clientv3.ContextError(ctx, err)
	}
	if err := stream.Send(&etcdserverpb.LeaseKeepAliveRequest{ID: int64(id)}); err != nil {
		return nil, clientv3.ContextError(ctx, err)
	}
	resp, err := stream.Recv()
	if err != nil {
		return nil, clientv3.ContextError(ctx, err)
	}
	return resp, nil
}

// revoke ends a lease, and all that is kept by it.
func (ls *leases) revoke(ctx context.Context, l *lease) {
	_, _ = ls.client.Revoke(ctx, l.id) // else it runs out
}
