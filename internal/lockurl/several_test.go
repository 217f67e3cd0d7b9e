package lockurl

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// unions makes one backend of several URLs in every way there is.
func unions() map[string]func(texts ...string) (*Backend, error) {
	return map[string]func(texts ...string) (*Backend, error){
		"quorum": func(texts ...string) (*Backend, error) {
			return NewQuorum(texts, &quorum.Options{Quarantine: -1})
		},
		"combination": func(texts ...string) (*Backend, error) {
			return NewCombination(texts, &combination.Options{NodeTimeout: time.Second})
		},
	}
}

// TestSeveralMemoriesAreStoresOfTheirOwn, and the clients of a backend share them.
func TestSeveralMemoriesAreStoresOfTheirOwn(t *testing.T) {
	for name, open := range unions() {
		t.Run(name, func(t *testing.T) {
			backend, err := open("mem:", "mem:", "mem:")
			if err != nil {
				t.Fatal(err)
			}
			if want := name + " of mem:, mem:, mem:"; !backend.Memory() || backend.String() != want {
				t.Errorf("is %s, in memory %v; want %s", backend, backend.Memory(), want)
			}
			lease, others := lockBesideAnother(t, backend)
			if on := lease.Spread(); on.Held < 2 || on.Stores != 3 {
				t.Errorf("on %d of %d stores, want most of 3", on.Held, on.Stores)
			}
			if _, err := others.Mutex("job", nil).TryLock(t.Context()); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("another client: %v", err)
			}
		})
	}
}

// lockBesideAnother returns a lease of one client, and another client.
func lockBesideAnother(t *testing.T, backend *Backend) (*lock.Lease, *Session) {
	t.Helper()
	var sessions [2]*Session
	for i := range sessions {
		var err error
		if sessions[i], err = backend.Open(lock.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = sessions[i].Stop(context.Background()) })
	}
	lease, err := sessions[0].Mutex("job", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease, sessions[1]
}

// TestMemoryHasAVoteAtOnce: what is gone with this process has been forgotten by nobody.
func TestMemoryHasAVoteAtOnce(t *testing.T) {
	backend, err := NewQuorum([]string{"mem:", "mem:", "mem:"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lockBesideAnother(t, backend)
}

// TestALockOutlivesOneOfThreeServers whichever way it is made of them.
func TestALockOutlivesOneOfThreeServers(t *testing.T) {
	t.Parallel()
	for name, open := range unions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := make([]*testenv.RedisServer, 3)
			texts := make([]string, len(servers))
			for i := range servers {
				servers[i] = testenv.Redis(t, nil)
				texts[i] = "redis://" + servers[i].Addr()
			}
			texts[1] += "?ttl=1s"
			backend, err := open(texts...)
			if err != nil {
				t.Fatal(err)
			}
			lease, others := lockBesideAnother(t, backend)
			if on := lease.Spread(); on.Held < 2 || on.Stores != 3 {
				t.Errorf("on %d of %d stores, want most of 3", on.Held, on.Stores)
			}
			servers[0].Kill()
			// Twice the TTL: it has been renewed without the first one.
			select {
			case <-lease.Context().Done():
				t.Fatalf("lost with one of three servers: %v", context.Cause(lease.Context()))
			case <-time.After(2 * time.Second):
			}
			if _, err := others.Mutex("job", nil).TryLock(t.Context()); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("another client: %v", err)
			}
			if err := lease.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			next, err := others.Mutex("job", nil).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if next.Token() <= lease.Token() {
				t.Errorf("token %d after %d", next.Token(), lease.Token())
			}
		})
	}
}

// TestTheTTLOfOneURLIsThatOfAll, unless the program asks for another one.
func TestTheTTLOfOneURLIsThatOfAll(t *testing.T) {
	for name, open := range unions() {
		backend, err := open("redis://a", "redis://b?ttl=5s", "redis://c?ttl=5s")
		if err != nil {
			t.Fatal(err)
		}
		if got := backend.ttl(); got != 5*time.Second {
			t.Errorf("%s: ttl is %s", name, got)
		}
	}
}

func TestSeveralSayWhatIsWrong(t *testing.T) {
	for name, open := range unions() {
		for texts, want := range map[string]string{
			"redis://a redis://b redis://a:6379": "backend: number 3 is number 1 once more, at a:6379",
			"redis://a redis://b rediss://A/5":   "backend: number 3 is number 1 once more, at A:6379",
			"redis://a redis://b redis-cluster://x,b": "" +
				"backend: number 3 is number 2 once more, at b:6379: each must be another server",
			"redis-sentinel://s,t/m redis-sentinel://u/m redis-sentinel://t/m": "" +
				"backend: number 3 is number 1 once more, at t:26379",
			"redis://a mem: redis://b": "backend: number 2 is the memory of this process and number 1 is not",
			"redis://a?ttl=5s redis://b redis://c?ttl=6s": "" +
				"backend: option ttl is 5s of number 1 and 6s of number 3: a lock has one",
			"redis://a": "nodes: are 1, allowed are ",
		} {
			_, err := open(strings.Fields(texts)...)
			if !errors.Is(err, input.ErrInvalid) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s of %s: got %v, want %s", name, texts, err, want)
			}
		}
		_, err := open("redis://a", "redis://u:secret@b:x", "redis://c")
		if _, ok := errors.AsType[*Error](err); !ok || err.Error() !=
			"number 2: backend URL: port is not a number from 1 to 65535" {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := open("redis-sentinel://s/m", "redis-sentinel://s/n", "redis-sentinel://s/o"); err != nil {
			t.Errorf("%s of three masters of one Sentinel: %v", name, err)
		}
	}
	if _, err := NewQuorum([]string{"redis://a", "redis://b", "redis://c", "redis://d"}, nil); err == nil ||
		!strings.HasPrefix(err.Error(), "majority: must be said for an even number of nodes") {
		t.Errorf("four nodes: %v", err)
	}
}

// TestStoresThatAgreeByThemselvesAreNoNodes: nothing is connected to, and the one that is wrong is named.
func TestStoresThatAgreeByThemselvesAreNoNodes(t *testing.T) {
	for name, open := range unions() {
		for _, url := range []string{"etcd://h", "zk://h"} {
			_, err := open("redis://a", url, "redis://b")
			if !isAbout(err, "number 2 is "+url[:4]) {
				t.Errorf("%s with %s: %v", name, url, err)
			}
		}
	}
}

// TestFilesAndDatabasesAreTwoNodes: one that is named twice is refused, whatever it is called.
func TestFilesAndDatabasesAreTwoNodes(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, same := range [][2]string{
		{"sqlite:a.db", "sqlite:./a.db"},
		{"mysql://u:p@h/a", "mysql://H/a?ttl=5s"},
		{"postgres://h/a?sslmode=disable", "postgres://h/a"},
	} {
		_, err := NewQuorum([]string{same[0], "redis://h", same[1]}, &quorum.Options{Quarantine: -1})
		if !isAbout(err, "number 3 is number 1") {
			t.Errorf("%v: %v", same, err)
		}
	}
	if _, err := NewQuorum([]string{"postgres://h/a", "postgres://h/b", "postgres://h/a?table=x"}, nil); err != nil {
		t.Error(err)
	}
}

// isAbout reports whether an error is one of wrong input that says so.
func isAbout(err error, problem string) bool {
	wrong, ok := errors.AsType[*input.Error](err)
	return ok && strings.Contains(wrong.Problem, problem)
}
