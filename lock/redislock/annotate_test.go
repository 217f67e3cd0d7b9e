package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// annotated are requests of every mode and shape, each for a name of its own.
func annotated() map[string]driver.Request {
	all := make(map[string]driver.Request)
	for i, name := range []string{
		"plain", "{braces}/x", "shared", "upgradeable", "write", "permits", "fair", "nobody's",
	} {
		req := request(name, fmt.Sprint(uuidA, ":", i+1))
		req.Meta = `{"at":"first"}`
		switch name {
		case "shared", "upgradeable":
			req.Mode, req.Upgradeable = driver.Shared, name == "upgradeable"
		case "write":
			req.Mode = driver.Write
		case "permits":
			req.Mode, req.Permits, req.Limit = driver.Permit, 2, 3
		case "fair":
			req.Fair = true
		case "nobody's":
			req.Owner, req.Meta = "nobody's", ""
		}
		all[name] = req
	}
	return all
}

// noted returns what is stored beside the only grant of a name, and how long that lives.
func noted(t *testing.T, b driver.Backend, name string) (meta string, left time.Duration) {
	t.Helper()
	info, err := b.(driver.Inspector).Inspect(ctxFor(t), name)
	if err != nil || len(info.Holders) != 1 {
		t.Fatalf("%q: %+v, %v", name, info, err)
	}
	return info.Holders[0].Meta, info.Holders[0].TTL
}

// TestNoteIsLost or changes something else: the time left, who has the lock, who else can have it.
func TestNoteIsLost(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		b := open(t, connect(t, single(testenv.Redis(t, nil))), nil)
		for name, req := range annotated() {
			g := mustAcquire(t, b, req)
			short := g
			short.TTL = 10 * time.Second
			if err := b.Renew(ctxFor(t), []driver.Grant{short})[0]; err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			for _, meta := range []string{`{"at":"next"}`, "", "words, and { braces }"} {
				if err := b.(driver.Annotator).Annotate(ctxFor(t), g, meta); err != nil {
					t.Fatalf("%q: %v", name, err)
				}
				got, left := noted(t, b, name)
				if want := meta; got != want && (name != "nobody's" || want != "" || got != "{}") {
					t.Errorf("%q has %q, want %q", name, got, want)
				}
				if left > short.TTL || left < short.TTL/2 {
					t.Errorf("%q has %s left", name, left)
				}
			}
			if again := mustAcquire(t, b, req); again.Token != g.Token+uint64(g.Tokens)-1 {
				t.Errorf("%q: token %d after %d", name, again.Token, g.Token)
			}
			mustRelease(t, b, g)
		}
	})
}

// TestNoteIsReadByRedisson: it adds nothing to the hash of a read-write lock, whose fields are readers to Redisson.
func TestNoteIsReadByRedisson(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	for _, name := range []string{"shared", "write"} {
		g := mustAcquire(t, b, annotated()[name])
		before := server.Do("HLEN", name)
		if err := b.(driver.Annotator).Annotate(ctxFor(t), g, "more"); err != nil {
			t.Error(err)
		}
		if after := server.Do("HLEN", name); after != before {
			t.Errorf("%q has %v fields, and had %v", name, after, before)
		}
	}
}

// TestNoteMakesALock: a grant that is not there is lost, whatever is in its place.
func TestNoteMakesALock(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		for name, req := range annotated() {
			g := req.Ungranted()
			check := func(what string) {
				t.Helper()
				before := residue(server)
				if err := b.(driver.Annotator).Annotate(ctxFor(t), g, "mine"); !errors.Is(err, driver.ErrLost) {
					t.Errorf("%q, %s: %v", name, what, err)
				}
				if after := residue(server); len(after) != len(before) {
					t.Errorf("%q, %s: %q, and before %q", name, what, after, before)
				}
			}
			check("never had")
			mustRelease(t, b, mustAcquire(t, b, req))
			check("released")
			req.Owner = uuidB + ":1"
			next := mustAcquire(t, b, req)
			check("another's")
			if meta, _ := noted(t, b, name); meta == "mine" {
				t.Errorf("%q: the note of another is replaced", name)
			}
			mustRelease(t, b, next)
			server.Do("SET", name, "no lock")
			check("no lock")
			server.Do("FLUSHALL")
		}
	})
}

// TestRedlockHasNoNotes: its layout has no place for them.
func TestRedlockHasNoNotes(t *testing.T) {
	b := open(t, connectGoredis(t, single(testenv.Redis(t, nil))), &redislock.Options{Profile: redislock.Redlock})
	g := mustAcquire(t, b, request("a", uuidA+":1"))
	if err := b.(driver.Annotator).Annotate(ctxFor(t), g, "mine"); !errors.Is(err, driver.ErrUnsupported) {
		t.Error(err)
	}
}

// TestNoteOutlastsItsContext: the call ends with it, also while the server is silent.
func TestNoteOutlastsItsContext(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		server.Freeze()
		defer server.Thaw()
		ctx, cancel := context.WithTimeout(ctxFor(t), 30*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := b.(driver.Annotator).Annotate(ctx, g, "mine")
		if took := time.Since(start); took > 230*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %s", err, took)
		}
		if err := b.(driver.Annotator).Annotate(ctx, g, "mine"); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("after its time: %v", err)
		}
	})
}
