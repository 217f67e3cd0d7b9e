package etcdlock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// formerLeader has leases prolonged by somebody of a term before, who takes himself for the leader still.
type formerLeader struct {
	answers atomic.Bool
	refuses atomic.Bool // or nobody answers at all
}

// formerStream is a stream whose answers are his.
type formerStream struct {
	grpc.ClientStream
	leader *formerLeader
}

// RecvMsg implements [grpc.ClientStream].
func (s *formerStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if resp, ok := m.(*etcdserverpb.LeaseKeepAliveResponse); ok && err == nil && s.leader.answers.Load() {
		resp.Header.RaftTerm--
	}
	if _, ok := m.(*etcdserverpb.LeaseKeepAliveResponse); ok && s.leader.refuses.Load() {
		return status.Error(codes.Unavailable, "nobody prolongs leases")
	}
	return err
}

// connect returns a client whose leases he prolongs while he answers.
func (l *formerLeader) connect(t *testing.T, addr string) *clientv3.Client {
	t.Helper()
	stream := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer,
		opts ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		s, err := open(ctx, desc, cc, method, opts...)
		if err != nil {
			return nil, err
		}
		return &formerStream{s, l}, nil
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{addr}, DialOptions: []grpc.DialOption{grpc.WithChainStreamInterceptor(stream)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestRenewalByAFormerLeader: one that was stopped prolongs leases for a moment when it goes on, which the next one
// has ended perhaps. That is no renewal; nor is it a loss.
func TestRenewalByAFormerLeader(t *testing.T) {
	t.Parallel()
	m, _ := oneServer(t)
	leader := &formerLeader{}
	b := newBackend(t, leader.connect(t, m.Addr()), nil)
	g := mustAcquire(t, b, request("a", 1))
	leader.answers.Store(true)
	if err := b.Renew(contextFor(t, soon), []driver.Grant{g})[0]; err == nil || errors.Is(err, driver.ErrLost) {
		t.Errorf("renewed by a former leader: %v", err)
	}
	leader.answers.Store(false)
	if err := b.Renew(contextFor(t, soon), []driver.Grant{g})[0]; err != nil {
		t.Errorf("renewed by the leader: %v", err)
	}
	mustRelease(t, b, g)
}

// TestRenewalCountsWithoutItsLease: the keys are all there, but the lease by which they are kept is not prolonged.
func TestRenewalCountsWithoutItsLease(t *testing.T) {
	t.Parallel()
	m, _ := oneServer(t)
	leader := &formerLeader{}
	b := newBackend(t, leader.connect(t, m.Addr()), nil)
	g := mustAcquire(t, b, request("a", 1))
	leader.refuses.Store(true)
	if err := b.Renew(contextFor(t, soon), []driver.Grant{g})[0]; err == nil || errors.Is(err, driver.ErrLost) {
		t.Errorf("renewed: %v", err)
	}
	mustRelease(t, b, g)
}

// TestLeaseOfAFormerLeader: what he has prolonged keeps no new grant, either.
func TestLeaseOfAFormerLeader(t *testing.T) {
	t.Parallel()
	m, _ := oneServer(t)
	leader := &formerLeader{}
	b := newBackend(t, leader.connect(t, m.Addr()), nil)
	g := mustAcquire(t, b, request("a", 1))
	leader.answers.Store(true)
	_ = b.Renew(contextFor(t, soon), []driver.Grant{g}) // it is his from now on
	other, err := b.Acquire(contextFor(t, soon), request("b", 2))
	if err == nil || errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("granted by a former leader: %+v, %v; want an error of no class", other, err)
	}
	leader.answers.Store(false)
	mustRelease(t, b, mustAcquire(t, b, request("b", 2)))
	mustRelease(t, b, g)
}
