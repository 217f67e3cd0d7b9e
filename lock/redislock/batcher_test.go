package redislock_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestOneOfABatchSpoilsTheOthers: many goroutines ask at once, some of them for
// what is held or is no lock at all; everybody gets the answer to its own
// question.
func TestOneOfABatchSpoilsTheOthers(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		for i := range 100 {
			server.Do("SET", fmt.Sprint("no lock", i), "text")
			server.Do("HSET", fmt.Sprint("held", i), javas, "1")
		}
		for range 20 {
			askForAll(t, b)
		}
		if calls := evalshaCalls(t, server); calls > 20*400/2 {
			t.Errorf("%d calls for some %d requests: nothing was batched", calls, 20*400)
		}
		if left := state(server); len(left) != 200+1 { // and the latch of the last name
			t.Errorf("%d keys are left: %v", len(left), left)
		}
	})
}

// askForAll takes and releases 100 free locks, and is refused 200 others, all
// at once.
func askForAll(t *testing.T, b driver.Backend) {
	t.Helper()
	var group sync.WaitGroup
	for i := range 100 {
		owner := fmt.Sprint(uuidA, ":", i)
		group.Go(func() {
			g, err := b.Acquire(ctxFor(t), request("free", owner))
			if errors.Is(err, driver.ErrHeld) {
				return
			}
			if err == nil {
				_, err = b.Release(ctxFor(t), g)
			}
			if err != nil {
				t.Errorf("free: %v", err)
			}
		})
		group.Go(func() {
			_, err := b.Acquire(ctxFor(t), request(fmt.Sprint("held", i), owner))
			if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.Owner != javas {
				t.Errorf("held: %v", err)
			}
		})
		group.Go(func() {
			if _, err := b.Acquire(ctxFor(t),
				request(fmt.Sprint("no lock", i), owner)); !errors.Is(err, driver.ErrRefused) {
				t.Errorf("no lock: %v", err)
			}
			g := driver.Grant{Name: fmt.Sprint("held", i), Owner: owner}
			if _, err := b.Release(ctxFor(t), g); !errors.Is(err, driver.ErrLost) {
				t.Errorf("release by a stranger: %v", err)
			}
		})
	}
	group.Wait()
}

// evalshaCalls returns how many scripts the server was asked to run.
func evalshaCalls(t *testing.T, server *testenv.RedisServer) int {
	t.Helper()
	stats := fmt.Sprint(server.Do("INFO", "commandstats"))
	_, after, found := strings.Cut(stats, "cmdstat_evalsha:calls=")
	calls, _, _ := strings.Cut(after, ",")
	n, err := strconv.Atoi(calls)
	if !found || err != nil {
		t.Fatalf("no count of calls in %q", stats)
	}
	return n
}

// TestClosedBackendIsAskedAgain: what is closed answers nobody, however often it is asked.
func TestClosedBackendIsAskedAgain(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		b := open(t, connect(t, single(testenv.Redis(t, nil))), nil)
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		_, acquired := b.Acquire(ctxFor(t), request("b", uuidA+":2"))
		_, released := b.Release(ctxFor(t), g)
		for _, err := range []error{acquired, released} {
			if !errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable) {
				t.Errorf("want a refusal and nothing else, got %v", err)
			}
		}
	})
}

// TestForbiddenNameSpoilsTheOthers: Redis refuses a call as a whole if one of its
// keys may not be touched; locks, releases and renewals of other names go on.
func TestForbiddenNameSpoilsTheOthers(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		const mayLock = "on >secret ~orders* ~redisson_lock_token:{orders* ~redisson_lock__channel:{orders* " +
			"~redisson_unlock_latch:{orders* &* +@all"
		server := testenv.Redis(t, &testenv.RedisOptions{Users: []string{"app " + mayLock}})
		to := single(server)
		to.user, to.pass = "app", "secret"
		b := open(t, connect(t, to), nil)
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() { takeAllowed(t, b, fmt.Sprint("orders/", i)) })
			group.Go(func() { refuseForbidden(t, b, fmt.Sprint("forbidden/", i)) })
		}
		group.Wait()
	})
}

func takeAllowed(t *testing.T, b driver.Backend, name string) {
	t.Helper()
	for i := range 200 {
		g, err := b.Acquire(ctxFor(t), request(name, fmt.Sprint(uuidA, ":", i)))
		if err == nil {
			_, err = b.Release(ctxFor(t), g)
		}
		if err != nil {
			t.Errorf("allowed: %v", err)
			return
		}
	}
}

func refuseForbidden(t *testing.T, b driver.Backend, name string) {
	t.Helper()
	for range 200 {
		g, err := b.Acquire(ctxFor(t), request(name, uuidA+":1"))
		if !errors.Is(err, driver.ErrRefused) {
			t.Errorf("forbidden: token %d, %v", g.Token, err)
		}
		if _, err := b.Release(ctxFor(t),
			driver.Grant{Name: name, Owner: uuidA + ":1"}); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("forbidden: released, %v", err)
		}
	}
}

// TestForbiddenNameEndsOtherLeases: a permission is withdrawn while many leases
// are renewed together.
func TestForbiddenNameEndsOtherLeases(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, &testenv.RedisOptions{Users: []string{"app on >secret ~* &* +@all"}})
		to := single(server)
		to.user, to.pass = "app", "secret"
		b := open(t, connect(t, to), nil)
		var grants []driver.Grant
		for i := range 250 {
			grants = append(grants, mustAcquire(t, b, request(fmt.Sprint("orders/", i), fmt.Sprint(uuidA, ":", i))))
		}
		grants[7] = mustAcquire(t, b, request("withdrawn", uuidA+":7"))
		server.Do("ACL", "SETUSER", "app", "resetkeys", "~orders/*")
		for i, err := range b.Renew(ctxFor(t), grants) {
			if i == 7 && !errors.Is(err, driver.ErrRefused) || i != 7 && err != nil {
				t.Errorf("lease %d: %v", i, err)
			}
		}
	})
}
