package redislock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// switched is a master, its replica, and a client whose way to them moves from one to the other while it stands.
type switched struct {
	old, next *testenv.RedisServer
	way       *chaos.Proxy
	after     func() // releases the lock
	token     uint64 // the last of its holder
	granted   <-chan outcome
}

func newSwitched(t *testing.T, connect func(testing.TB, target) redisconn.Conn) *switched {
	t.Helper()
	s := &switched{old: testenv.Redis(t, nil)}
	s.next, s.way = testenv.Redis(t, &testenv.RedisOptions{ReplicaOf: s.old}), proxyTo(t, s.old)
	far := attentiveClient(t, s.old, connect(t, target{addrs: []string{s.way.Addr()}}), lock.Options{TTL: briefClaim})
	a := open(t, connect(t, single(s.old)), nil)
	g := held(t, a, "a", uuidA+":1")
	s.token = g.Token + uint64(g.Tokens) - 1
	s.granted = later(ctxFor(t), far.Mutex("a", nil))
	inLine(t, s.old, "a", 1)
	s.next.CatchUp()
	s.after = func() { mustRelease(t, a, g) }
	return s
}

// move makes the replica the master, and has the client find it there.
func (s *switched) move() {
	s.next.Do("REPLICAOF", "NO", "ONE")
	s.way.Heal()
	s.way.Retarget(s.next.Addr())
}

// TestFailOverWhileALockIsPassedOn: the new master knows of the grant or it does not; its message is lost.
func TestFailOverWhileALockIsPassedOn(t *testing.T) {
	t.Run("replicated", func(t *testing.T) {
		each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
			s := newSwitched(t, connect)
			s.way.BlackHole(chaos.Both) // its message is lost
			released := time.Now()
			s.after()
			s.next.CatchUp()
			s.move()
			got := leaseOf(t, s.granted)
			if took := got.at.Sub(released); took > briefClaim+askedAgain+slack {
				t.Errorf("it had the lock after %s", took)
			}
			if got.lease.Token() <= s.token || s.next.Do("HEXISTS", "a", got.lease.Owner()) != int64(1) {
				t.Errorf("token %d after %d, of %v", got.lease.Token(), s.token, s.next.Do("HKEYS", "a"))
			}
			mustEnd(t, got.lease)
		})
	})
	t.Run("not replicated", func(t *testing.T) {
		each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
			s := newSwitched(t, connect)
			s.next.Do("REPLICAOF", "NO", "ONE")
			s.after()
			lease := leaseOf(t, s.granted).lease
			s.move()
			select {
			case <-lease.Context().Done():
			case <-time.After(briefClaim + slack):
				t.Fatal("it has the lock of a master that is none any more")
			}
			if err := lease.Err(); !errors.Is(err, lock.ErrLost) {
				t.Error(err)
			}
			s.next.Do("DEL", "a") // as at the end of its former holder's lease
			other := attentiveClient(t, s.next, connect(t, single(s.next)), lock.Options{TTL: briefClaim})
			next := leaseOf(t, later(ctxFor(t), other.Mutex("a", nil))).lease
			if next.Token() <= lease.Token() {
				t.Errorf("token %d after %d", next.Token(), lease.Token())
			}
			mustEnd(t, next)
		})
	})
}
