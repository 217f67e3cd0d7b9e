package redislock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// inMode is a request to read or to write.
func inMode(name, owner string, mode driver.Mode) driver.Request {
	req := request(name, owner)
	req.Mode = mode
	return req
}

// refusalOf returns who has what is asked for, and for how long.
func refusalOf(t *testing.T, b driver.Backend, req driver.Request) *driver.HeldError {
	t.Helper()
	_, err := b.Acquire(ctxFor(t), req)
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		t.Fatalf("%v of %q: %v", req.Mode, req.Name, err)
	}
	return held
}

// mustInspect returns who has a lock.
func mustInspect(t *testing.T, b driver.Backend, name string) []driver.Holder {
	t.Helper()
	info, err := b.(driver.Inspector).Inspect(ctxFor(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Holders
}

// names lists the names of locks that are held.
func names(t *testing.T, b driver.Backend) (all []string) {
	t.Helper()
	infos, err := b.(driver.Inspector).List(ctxFor(t), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		all = append(all, info.Name)
	}
	return all
}

// TestAWriterWithoutAnEndIsThereForEver: somebody has made the key persist, and then the holder has died.
func TestAWriterWithoutAnEndIsThereForEver(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	mustAcquire(t, b, inMode("a", uuidA+":1", driver.Write))
	s.Do("PERSIST", "a")
	s.Do("DEL", "redisson_lock_token:{a}")
	before := contents(s)
	found := mustInspect(t, b, "a")
	if len(found) != 1 || found[0].Owner != uuidA+":1" || found[0].Mode != driver.Write || found[0].TTL >= 0 {
		t.Errorf("inspected: %+v", found)
	}
	if diff := cmp.Diff([]string{"a"}, names(t, b)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for _, mode := range []driver.Mode{driver.Shared, driver.Write} {
		held := refusalOf(t, b, inMode("a", uuidB+":1", mode))
		if held.Owner != uuidA+":1" || held.TTL != driver.UnknownTTL {
			t.Errorf("%v: %+v", mode, held)
		}
	}
	if diff := cmp.Diff(before, contents(s)); diff != "" {
		t.Errorf("who was refused has changed it (-before +after):\n%s", diff)
	}
	if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "a"); err != nil || !held {
		t.Errorf("force: %t, %v", held, err)
	}
	mustAcquire(t, b, inMode("a", uuidB+":2", driver.Shared))
}

// TestALivingWriterLosesItsEndAndItsLock: its renewals give it the end back, and nobody else comes in meanwhile.
func TestALivingWriterLosesItsEndAndItsLock(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	g := mustAcquire(t, b, inMode("a", uuidA+":1", driver.Write))
	s.Do("PERSIST", "a")
	under := inMode("a", uuidA+":2", driver.Shared)
	under.Over = g.Owner
	reader := mustAcquire(t, b, under)
	refusalOf(t, b, inMode("a", uuidB+":1", driver.Write))
	for _, err := range b.Renew(ctxFor(t), []driver.Grant{g, reader}) {
		if err != nil {
			t.Errorf("renew: %v", err)
		}
	}
	if left, _ := s.Do("PTTL", "a").(int64); left < 29_000 || left > 30_000 {
		t.Errorf("after the renewal it lives for %d ms", left)
	}
	mustRelease(t, b, reader)
	refusalOf(t, b, inMode("a", uuidB+":1", driver.Write))
	mustRelease(t, b, g)
	mustRelease(t, b, mustAcquire(t, b, inMode("a", uuidB+":1", driver.Write)))
}

// TestAReaderGivesAnotherItsEnd: what a renewal gives the key outlasts who has the lock for longer.
func TestAReaderGivesAnotherItsEnd(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	long := inMode("a", uuidA+":1", driver.Shared)
	long.TTL = time.Hour
	mustAcquire(t, b, long)
	short := mustAcquire(t, b, inMode("a", uuidB+":1", driver.Shared))
	s.Do("PERSIST", "a")
	if err := b.Renew(ctxFor(t), []driver.Grant{short})[0]; err != nil {
		t.Fatal(err)
	}
	if left, _ := s.Do("PTTL", "a").(int64); left < time.Hour.Milliseconds()-60_000 {
		t.Errorf("it lives for %d ms", left)
	}
}

// TestReadersWithoutAnEndAreThereForEver: each has an end of its own, which is in a key beside the lock.
func TestReadersWithoutAnEndAreThereForEver(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	for _, name := range []string{"forced", "over"} {
		mustAcquire(t, b, inMode(name, uuidA+":1", driver.Shared))
		s.Do("PERSIST", name)
		if found := mustInspect(t, b, name); len(found) != 1 || found[0].TTL < 29*time.Second {
			t.Errorf("%s: inspected: %+v", name, found)
		}
		if held := refusalOf(t, b, inMode(name, uuidB+":1", driver.Write)); held.Owner != uuidA+":1" {
			t.Errorf("%s: %+v", name, held)
		}
	}
	if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "forced"); err != nil || !held {
		t.Errorf("force: %t, %v", held, err)
	}
	s.Do("DEL", "{over}:"+uuidA+":1:rwlock_timeout:1") // its lease is over
	if found := mustInspect(t, b, "over"); len(found) > 0 {
		t.Errorf("the reader's lease is over: %+v", found)
	}
	for _, name := range []string{"forced", "over"} {
		mustAcquire(t, b, inMode(name, uuidB+":1", driver.Write))
		if left, _ := s.Do("PTTL", name).(int64); left < 0 {
			t.Errorf("%s: it lives for %d ms", name, left)
		}
	}
}

// TestAHashThatDoesNotEndIsTakenForALock: it has a mode, and owners, or nearly.
func TestAHashThatDoesNotEndIsTakenForALock(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	for i, more := range [][]any{
		{},
		{uuidA, 1},
		{uuidA + ":x", 1},
		{uuidA + ":1", "Ann"},
		{uuidA + ":1", 1, "path", "/tmp/x"},
		{"path", 1},
		{"x" + uuidA + ":1", 1},
		{uuidA + ":1:write", 1, uuidA + ":1:owner", 1},
		{"ab-c-d-e-f:1", 1},
	} {
		for _, mode := range []string{"read", "write"} {
			name := string(rune('a'+i)) + mode
			s.Do(append([]any{"HSET", name, "mode", mode}, more...)...)
			before := contents(s)
			errs := map[string]error{}
			_, errs["read"] = b.Acquire(ctxFor(t), inMode(name, uuidB+":1", driver.Shared))
			_, errs["write"] = b.Acquire(ctxFor(t), inMode(name, uuidB+":1", driver.Write))
			_, errs["force"] = b.(driver.Forcer).ForceRelease(ctxFor(t), name)
			_, errs["inspect"] = b.(driver.Inspector).Inspect(ctxFor(t), name)
			for way, err := range errs {
				if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "a hash that does not end") {
					t.Errorf("%v, %s: %v", more, way, err)
				}
			}
			if diff := cmp.Diff(before, contents(s)); diff != "" {
				t.Errorf("%v (-before +after):\n%s", more, diff)
			}
		}
	}
	if all := names(t, b); len(all) > 0 {
		t.Errorf("listed: %v", all)
	}
}

// TestAReaderWhoJoinsGivesAnEndToOthers, who have it for longer: the lock has lost its own.
func TestAReaderWhoJoinsGivesAnEndToOthers(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	long := inMode("a", uuidA+":1", driver.Shared)
	long.TTL = time.Minute
	g := mustAcquire(t, b, long)
	s.Do("PERSIST", "a")
	short := inMode("a", uuidB+":1", driver.Shared)
	short.TTL = time.Millisecond
	mustAcquire(t, b, short)
	s.Do("WAIT", "1", "20") // it has died by then
	if held := refusalOf(t, b, inMode("a", uuidB+":2", driver.Write)); held.Owner != uuidA+":1" {
		t.Errorf("%+v", held)
	}
	mustRelease(t, b, g)
	mustRelease(t, b, mustAcquire(t, b, inMode("a", uuidB+":2", driver.Write)))
}
