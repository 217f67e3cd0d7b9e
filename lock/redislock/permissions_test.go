package redislock_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// TestScriptRefusedHalfWayLeavesALock: a script is refused half-way, and told as if nothing had
// happened.
func TestScriptRefusedHalfWayLeavesALock(t *testing.T) {
	server := testenv.Redis(t, nil)
	conn := connectGoredis(t, single(server))
	for profile, commands := range map[redislock.Profile][]string{
		redislock.Redisson: {"exists", "time", "set", "hset", "pexpire"},
		redislock.Redlock:  {"get", "set", "time"},
	} {
		b := open(t, conn, &redislock.Options{Profile: profile})
		for _, command := range commands {
			name := fmt.Sprint(profile, "/", command)
			server.Do("ACL", "SETUSER", "default", "-"+command)
			_, err := b.Acquire(ctxFor(t), request(name, uuidA+":1"))
			server.Do("ACL", "SETUSER", "default", "+@all")
			if !errors.Is(err, driver.ErrRefused) {
				t.Errorf("%s: want a refusal, got %v", name, err)
			}
			if server.Do("EXISTS", name) != int64(0) {
				t.Errorf("%s: the lock is there, after %v", name, err)
			}
		}
	}
}

// listedPermissions returns the permissions that the documentation lists.
func listedPermissions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.TrimPrefix(line, "//"))
		if strings.HasPrefix(line, "//\t") && len(words) > 0 && strings.ContainsAny(words[0][:1], "~&+") {
			all = append(all, words...)
		}
	}
	if len(all) < 50 {
		t.Fatalf("only %q", all)
	}
	return all
}

// TestDocumentedPermissionsAreTooFew for readers, writers, permits and mutexes, looked at and taken away.
func TestDocumentedPermissionsAreTooFew(t *testing.T) {
	s := testenv.Redis(t, nil)
	rules := []any{"ACL", "SETUSER", "app", "on", ">secret"}
	for _, rule := range listedPermissions(t) {
		rules = append(rules, rule)
	}
	if got := s.Do(rules...); fmt.Sprint(got) != "OK" {
		t.Fatal(got)
	}
	to := single(s)
	to.user, to.pass = "app", "secret"
	b := open(t, connectGoredis(t, to), nil)
	for _, mode := range []driver.Mode{driver.Exclusive, driver.Shared, driver.Write, driver.Permit} {
		t.Run(mode.String(), func(t *testing.T) { useLock(t, b, mode) })
	}
	plain := open(t, connectGoredis(t, to), &redislock.Options{Semaphores: redislock.RSemaphore})
	t.Run("RSemaphore", func(t *testing.T) { useLock(t, plain, driver.Permit) })
	for _, b := range []driver.Backend{b, plain} {
		if _, err := b.(driver.Inspector).List(ctxFor(t), "orders/", 10); err != nil {
			t.Error(err)
		}
	}
	t.Run("latch", func(t *testing.T) { latchIsHeard(t, b, b, "orders/latch") })
	t.Run("several", func(t *testing.T) {
		for _, g := range mustAcquireAll(t, b, requests(uuidA+":9", "orders/1", "orders/2")) {
			if err := b.(driver.Annotator).Annotate(ctxFor(t), g, "noted"); err != nil {
				t.Error(err)
			}
		}
	})
}

// useLock does with a lock whatever can be done.
func useLock(t *testing.T, b driver.Backend, mode driver.Mode) {
	t.Helper()
	req := request("orders/"+mode.String(), uuidA+":1")
	if req.Mode = mode; mode == driver.Permit {
		req.Permits, req.Limit = 1, 1
	}
	w, err := b.(driver.Waiter).Watch(ctxFor(t), req.Name, mode.Kind())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	g := mustAcquire(t, b, req)
	if err := b.(driver.Annotator).Annotate(ctxFor(t), g, "noted"); err != nil {
		t.Error(err)
	}
	for _, part := range []int{1, 2} { // a life that is cut short is told of
		g.TTL /= 2
		if err := b.Renew(ctxFor(t), []driver.Grant{g})[0]; err != nil {
			t.Errorf("renewal %d: %v", part, err)
		}
	}
	if info, err := b.(driver.Inspector).Inspect(ctxFor(t), req.Name); err != nil || len(info.Holders) != 1 {
		t.Errorf("inspected %+v, %v", info, err)
	}
	if _, err := b.(driver.Pleader).Plead(ctxFor(t), req.Name, driver.Plea{Reason: "why"}); err != nil {
		t.Error(err)
	}
	waits := request(req.Name, uuidA+":2")
	if waits.Mode, waits.Permits, waits.Limit = mode, req.Permits, req.Limit; mode == driver.Shared {
		waits.Mode = driver.Write
	}
	waits.Waits = mode.Kind() == driver.ReadWrite
	if _, err := b.Acquire(ctxFor(t), waits); !errors.Is(err, driver.ErrHeld) {
		t.Errorf("one that waits: %v", err)
	}
	if _, err := b.Release(ctxFor(t), waits.Ungranted()); !errors.Is(err, driver.ErrLost) {
		t.Errorf("one that gives up: %v", err)
	}
	mustRelease(t, b, g)
	req.Owner = uuidA + ":3"
	mustAcquire(t, b, req)
	if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), req.Name); err != nil || !held {
		t.Errorf("taken away: %t, %v", held, err)
	}
}
