package election_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/quorum"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// openAt returns a client of a server, and a connection to it.
func openAt(t *testing.T, addr string) (*lock.Client, *redis.Client) {
	t.Helper()
	conn := redis.NewClient(&redis.Options{Addr: addr})
	locks, err := redislock.New(goredis.Wrap(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop(t, locks)
		conn.Close()
	})
	return locks, conn
}

// TestRedisTellsOfAnotherTerm: observers are told the owner and the token of the very term, however many campaign, in
// two processes, and see each that lasts for a moment.
func TestRedisTellsOfAnotherTerm(t *testing.T) {
	t.Parallel()
	addr := testenv.Redis(t, nil).Addr()
	locks, _ := openAt(t, addr)
	others, _ := openAt(t, addr)
	won := make(chan *election.Term)
	for range 4 {
		for _, c := range []*lock.Client{locks, others} {
			go func() {
				term, err := election.New(c, "job", nil).Campaign(t.Context())
				if err != nil {
					t.Error(err)
				}
				won <- term
			}()
		}
	}
	seen := observeAt(t, addr)
	last := uint64(0)
	for range 8 {
		term := <-won
		leader, err := election.New(others, "job", nil).Leader(t.Context())
		if err != nil || leader.Owner != term.Owner() || leader.Token != term.Token() || leader.Meta["pid"] == "" {
			t.Errorf("told is %+v, %v; it is %s with %d", leader, err, term.Owner(), term.Token())
		}
		if since := time.Since(leader.Since); since < -time.Second || since > time.Minute {
			t.Errorf("since %s", leader.Since)
		}
		wantToken(t, seen, term.Token())
		if term.Token() <= last {
			t.Errorf("token %d after %d", term.Token(), last)
		}
		last = term.Token()
		resign(t, term)
	}
}

// TestALeaderInJavaIsNotSeen: it stores no metadata, and has the same owner each time.
func TestALeaderInJavaIsNotSeen(t *testing.T) {
	t.Parallel()
	addr := testenv.Redis(t, nil).Addr()
	seen := observeAt(t, addr)
	if s := <-seen; s.err != nil || s.leader.Owner != "" {
		t.Errorf("seen is %+v", s)
	}
	const owner = "0b3bd1d8-8b5d-4b8c-9e4b-6f8c3d0a7e11:1"
	_, conn := openAt(t, addr)
	if _, err := conn.TxPipelined(t.Context(), func(tx redis.Pipeliner) error { // as RLock
		tx.HSet(t.Context(), "job", owner, 1)
		return tx.PExpire(t.Context(), "job", time.Minute).Err()
	}); err != nil {
		t.Fatal(err)
	}
	s := <-seen
	if s.err != nil || s.leader.Owner != owner || len(s.leader.Meta) != 0 || s.leader.TTL <= 0 {
		t.Errorf("seen is %+v", s)
	}
	conn.Del(t.Context(), "job")
	conn.Publish(t.Context(), "redisson_lock__channel:{job}", "0")
	if s := <-seen; s.err != nil || s.leader.Owner != "" {
		t.Errorf("seen is %+v", s)
	}
}

// TestAQuorumHasNoLeader: an election may be on several stores.
func TestAQuorumHasNoLeader(t *testing.T) {
	t.Parallel()
	nodes := []driver.Backend{memlock.NewBackend(nil), memlock.NewBackend(nil), memlock.NewBackend(nil)}
	locks, err := quorum.New(nodes, &quorum.Options{Quarantine: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, locks) })
	e := election.New(locks, "job", nil)
	term := campaign(t, e)
	leader, err := e.Leader(t.Context())
	if err != nil || leader.Owner != term.Owner() || leader.Token != term.Token() {
		t.Errorf("told is %+v, %v; it is %s with %d", leader, err, term.Owner(), term.Token())
	}
	resign(t, term)
}

// TestRedisKeepsAChangeToItself: who campaigns, and who observes, are told of the end of a term, also of one that is
// fair, or was given up at once.
func TestRedisKeepsAChangeToItself(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*election.Options{"plain": nil, "fair": {Fair: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := testenv.Redis(t, nil).Addr()
			locks, _ := openAt(t, addr)
			others, _ := openAt(t, addr)
			both := []*election.Election{election.New(locks, "job", opts), election.New(others, "job", opts)}
			seen := observeAt(t, addr)
			term := campaign(t, both[0])
			wantToken(t, seen, term.Token())
			for i := range 4 {
				won := campaignLater(t, both[1-i%2])
				<-time.After(100 * time.Millisecond) // it waits by now
				resigned := time.Now()
				resign(t, term)
				term = <-won
				led := time.Now()
				late := wantToken(t, seen, term.Token()).Sub(led)
				if took := led.Sub(resigned); took > time.Second || late > time.Second {
					t.Errorf("another one leads after %s, and is seen %s after that", took, late)
				}
				resigned = time.Now()
				resign(t, term) // at once
				term = campaign(t, both[i%2])
				if took := time.Since(resigned); took > time.Second {
					t.Errorf("after a short term another one leads after %s", took)
				}
				wantToken(t, seen, term.Token())
			}
			resign(t, term)
		})
	}
}
