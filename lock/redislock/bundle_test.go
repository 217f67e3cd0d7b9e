package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// requests asks for usual leases of several names.
func requests(owner string, names ...string) []driver.Request {
	reqs := make([]driver.Request, len(names))
	for i, name := range names {
		reqs[i] = request(name, owner)
	}
	return reqs
}

// mustAcquireAll acquires what is free.
func mustAcquireAll(t testing.TB, b driver.Backend, reqs []driver.Request) []driver.Grant {
	t.Helper()
	grants, err := b.(driver.Bundler).AcquireAll(ctxFor(t), reqs)
	if err != nil || len(grants) != len(reqs) {
		t.Fatalf("%d grants of %d: %v", len(grants), len(reqs), err)
	}
	return grants
}

// contents are all keys of a server, with what is in them and whether they end.
func contents(s *testenv.RedisServer) map[string]string {
	all := make(map[string]string)
	keys, _ := s.Do("KEYS", "*").([]any)
	for _, key := range keys {
		all[fmt.Sprint(key)] = fmt.Sprintf("%v, ends: %t", s.Do("DUMP", key), s.Do("PTTL", key) != int64(-1))
	}
	return all
}

// TestBundleIsHalfGranted: all of several locks are had, or none; a refusal changes nothing, and names the first.
func TestBundleIsHalfGranted(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, p redislock.Profile) {
		opts := &redislock.Options{Profile: p}
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), opts)
		names := []string{"a", "b", "{x}", "x", "{t}/1", "with spaces, and {"}
		for _, held := range [][]string{{"b"}, {"x", "b"}, {"with spaces, and {"}} {
			var others []driver.Grant
			for i, name := range held {
				others = append(others, mustAcquire(t, b, request(name, fmt.Sprint(uuidB, ":", i))))
			}
			before := contents(server)
			_, err := b.(driver.Bundler).AcquireAll(ctxFor(t), requests(uuidA+":1", names...))
			told, ok := errors.AsType[*driver.HeldError](err)
			first := names[slices.IndexFunc(names, func(name string) bool { return slices.Contains(held, name) })]
			if !ok || told.Name != first || driver.ClientOf(told.Owner) != uuidB || told.TTL <= 0 {
				t.Errorf("%q are held: %+v (%v)", held, told, err)
			}
			if diff := cmp.Diff(before, contents(server)); diff != "" {
				t.Errorf("%q are held, and the refusal has changed (-before +after):\n%s", held, diff)
			}
			for _, g := range others {
				mustRelease(t, b, g)
			}
		}
		for _, g := range mustAcquireAll(t, b, requests(uuidA+":1", names...)) {
			if _, err := b.Acquire(ctxFor(t), request(g.Name, uuidB+":9")); !errors.Is(err, driver.ErrHeld) {
				t.Errorf("%q is not had: %v", g.Name, err)
			}
			if err := b.Renew(ctxFor(t), []driver.Grant{g})[0]; err != nil {
				t.Error(err)
			}
			mustRelease(t, b, g)
			if next := mustAcquire(t, b, request(g.Name, uuidB+":10")); next.Token <= g.Token {
				t.Errorf("token %d after %d", next.Token, g.Token)
			}
		}
	})
}

// TestBundleIsAskedForAgain after its answer was lost: it is granted again, with its tokens and its time anew.
func TestBundleIsAskedForAgain(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, p redislock.Profile) {
		opts := &redislock.Options{Profile: p}
		server := testenv.Redis(t, nil)
		proxy := proxyTo(t, server)
		far := open(t, connect(t, target{addrs: []string{proxy.Addr()}}), opts)
		near := open(t, connect(t, single(server)), opts)
		for _, g := range mustAcquireAll(t, far, requests(uuidA+":1", "warm", "up")) {
			mustRelease(t, far, g)
		}
		reqs := requests(uuidA+":2", "a", "b", "c")
		mustRelease(t, near, mustAcquire(t, near, request("a", uuidB+":1")))
		proxy.BlackHole(chaos.Replies)
		ctx, cancel := context.WithTimeout(ctxFor(t), 300*time.Millisecond)
		defer cancel()
		_, err := far.(driver.Bundler).AcquireAll(ctx, reqs)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrUnavailable) ||
			errors.Is(err, driver.ErrRefused) {
			t.Fatalf("the answer that is lost: %v", err)
		}
		proxy.Heal()
		for _, name := range []string{"a", "b", "c"} {
			server.Do("PEXPIRE", name, 5000)
		}
		first := mustAcquireAll(t, near, reqs)
		if again := mustAcquireAll(t, near, reqs); !slices.EqualFunc(first, again,
			func(x, y driver.Grant) bool { return x.Token == y.Token }) {
			t.Errorf("the tokens of %+v are others in %+v", first, again)
		}
		for _, g := range first {
			if left, _ := server.Do("PTTL", g.Name).(int64); left < 25000 || g.Token == 0 || g.Tokens != 1 {
				t.Errorf("%+v has %d ms left", g, left)
			}
			mustRelease(t, near, g)
		}
	})
}

// TestBundleTakesAnotherKind: a name of another kind is told, before one that is only held, and nothing has changed.
func TestBundleTakesAnotherKind(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		mustAcquire(t, b, request("mutex", uuidB+":1"))
		for mode, name := range map[driver.Mode]string{driver.Shared: "rw", driver.Permit: "semaphore"} {
			req := request(name, uuidB+":2")
			if req.Mode = mode; mode == driver.Permit {
				req.Permits, req.Limit = 1, 2
			}
			mustAcquire(t, b, req)
		}
		server.Do("SET", "java's", "3")
		for name, kind := range map[string]driver.Kind{
			"rw": driver.ReadWrite, "semaphore": driver.Semaphore, "java's": driver.Semaphore,
		} {
			before := contents(server)
			_, err := b.(driver.Bundler).AcquireAll(ctxFor(t), requests(uuidA+":1", "a", "mutex", name, "b"))
			told, ok := errors.AsType[*driver.KindError](err)
			if !ok || told.Found != kind || told.Wanted != driver.Mutex {
				t.Errorf("%s: %v", name, err)
			}
			if diff := cmp.Diff(before, contents(server)); diff != "" {
				t.Errorf("%s is changed (-before +after):\n%s", name, diff)
			}
		}
		server.Do("SET", "text", "no lock")
		if _, err := b.(driver.Bundler).AcquireAll(
			ctxFor(t), requests(uuidA+":1", "a", "text"),
		); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("a text: %v", err)
		}
		if server.Do("EXISTS", "a") != int64(0) {
			t.Error("a lock is left")
		}
	})
}

// TestBundleOfAFormerSemaphore: a semaphore that nobody has is only remembered, and in nobody's way.
func TestBundleOfAFormerSemaphore(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	req := request("s", uuidA+":1")
	req.Mode, req.Permits, req.Limit = driver.Permit, 1, 1
	mustRelease(t, b, mustAcquire(t, b, req))
	other := mustAcquire(t, b, request("a", uuidB+":1"))
	before := contents(server)
	_, err := b.(driver.Bundler).AcquireAll(ctxFor(t), requests(uuidA+":2", "s", "a"))
	if diff := cmp.Diff(before, contents(server)); diff != "" || !errors.Is(err, driver.ErrHeld) {
		t.Errorf("%v, changed (-before +after):\n%s", err, diff)
	}
	mustRelease(t, b, other)
	mustAcquireAll(t, b, requests(uuidA+":2", "s", "a"))
}

// TestBundleIsRefusedHalfWay: whatever this user may not, and whatever a counter is, no lock is left.
func TestBundleIsRefusedHalfWay(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, p redislock.Profile) {
		opts := &redislock.Options{Profile: p}
		server := testenv.Redis(t, &testenv.RedisOptions{Users: []string{"locker on >secret ~* &* +@all"}})
		counters, written := "redisson_lock_token:", "hset"
		if p == redislock.Redlock {
			counters, written = "bedrock_token:", "set"
		}
		to := single(server)
		to.user, to.pass = "locker", "secret"
		b := open(t, connect(t, to), opts)
		names := []string{"a", "b", "c"}
		check := func(what string) {
			t.Helper()
			_, err := b.(driver.Bundler).AcquireAll(ctxFor(t), requests(uuidA+":1", names...))
			if !errors.Is(err, driver.ErrRefused) {
				t.Errorf("%s: %v", what, err)
			}
			if n := server.Do("EXISTS", "a", "b", "c"); n != int64(0) {
				t.Errorf("%s: %v locks are left, after %v", what, n, err)
			}
		}
		rights := map[string][]any{
			"only the first is written": {"-" + written, "(~a +" + written + ")", "(~" + counters + "* +set)"},
			"not the last counter":      words("resetkeys ~a ~b ~c ~" + counters + "{a} ~" + counters + "{b}"),
			"no time":                   {"-time"},
			"no set":                    {"-set"},
		}
		if p == redislock.Redisson {
			rights["only the first is ended"] = []any{"-pexpire", "(~a +pexpire)"}
			rights["no exists"] = []any{"-exists"}
			rights["no pexpire"] = []any{"-pexpire"}
		}
		for _, what := range slices.Sorted(maps.Keys(rights)) {
			server.Do(append([]any{"ACL", "SETUSER", "locker"}, rights[what]...)...)
			check(what)
			server.Do("ACL", "SETUSER", "locker", "resetkeys", "~*", "+@all", "clearselectors")
		}
		server.Do("SET", counters+"{b}", "no number")
		check("a counter that is no number")
	})
}

// TestBundleIsRefused: what cannot be had in one step.
func TestBundleIsRefused(t *testing.T) {
	b := open(t, connectGoredis(t, single(testenv.Redis(t, nil))), nil)
	together := b.(driver.Bundler)
	var many []string
	for i := range driver.MaxBundle + 1 {
		many = append(many, fmt.Sprint("n", i))
	}
	fair := requests(uuidA+":1", "a", "b")
	fair[1].Fair = true
	for what, reqs := range map[string][]driver.Request{
		"none": nil, "too many": requests(uuidA+":1", many...), "one twice": requests(uuidA+":1", "a", "b", "a"),
		"a fair one": fair, "a name of ours": requests(uuidA+":1", "a", "bedrock_line:a"),
	} {
		if _, err := together.AcquireAll(ctxFor(t), reqs); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !together.Together(many[1:]) || together.Together(many) || together.Together(nil) ||
		together.Together([]string{"a", "bedrock_line:a"}) {
		t.Error("what can be together")
	}
	mustAcquireAll(t, b, requests(uuidA+":1", many[1:]...))
	ctx, cancel := context.WithCancel(ctxFor(t))
	cancel()
	if _, err := together.AcquireAll(ctx, requests(uuidA+":1", "a")); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("after its time: %v", err)
	}
}

// TestClusterBundle: names of one slot are had in one step, others are not.
func TestClusterBundle(t *testing.T) {
	set := testenv.Cluster(t, 3, 0)
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, p redislock.Profile) {
		opts := &redislock.Options{Profile: p}
		b := open(t, connect(t, target{addrs: set.Addrs(), cluster: true}), opts)
		same := []string{"{" + t.Name() + "}/a", "{" + t.Name() + "}/b", t.Name()}
		if !b.(driver.Bundler).Together(same) {
			t.Error("names of one slot")
		}
		for _, g := range mustAcquireAll(t, b, requests(uuidA+":1", same...)) {
			mustRelease(t, b, g)
		}
		other := []string{t.Name() + "1", t.Name() + "2"}
		if b.(driver.Bundler).Together(other) {
			t.Error("names of two slots")
		}
		if _, err := b.(driver.Bundler).AcquireAll(
			ctxFor(t), requests(uuidA+":1", other...),
		); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("names of two slots: %v", err)
		}
	})
}

// TestBundleWithoutReplicas is taken back as a whole.
func TestBundleWithoutReplicas(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, p redislock.Profile) {
		opts := &redislock.Options{Profile: p}
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), &redislock.Options{
			Profile: p, Acks: 1, AckTimeout: 50 * time.Millisecond,
		})
		_, err := b.(driver.Bundler).AcquireAll(ctxFor(t), requests(uuidA+":1", "a", "b"))
		if _, ok := errors.AsType[*redislock.AckError](err); !ok || !errors.Is(err, driver.ErrSpent) {
			t.Errorf("no replica: %v", err)
		}
		if n := server.Do("EXISTS", "a", "b"); n != int64(0) {
			t.Errorf("%v locks are left", n)
		}
		held := mustAcquire(t, open(t, connect(t, single(server)), opts), request("b", uuidB+":1"))
		_, err = b.(driver.Bundler).AcquireAll(ctxFor(t), requests(uuidA+":2", "a", "b"))
		if told, ok := errors.AsType[*driver.HeldError](err); !ok || told.Name != held.Name {
			t.Errorf("held: %v", err)
		}
	})
}

// TestBundleIsKeptByAFrozenServer: the call ends with its context.
func TestBundleIsKeptByAFrozenServer(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, p redislock.Profile) {
		opts := &redislock.Options{Profile: p}
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), opts)
		mustAcquireAll(t, b, requests(uuidA+":1", "warm", "up"))
		server.Freeze()
		defer server.Thaw()
		ctx, cancel := context.WithTimeout(ctxFor(t), 30*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := b.(driver.Bundler).AcquireAll(ctx, requests(uuidA+":2", "a", "b"))
		if took := time.Since(start); took > 230*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("%v after %s", err, took)
		}
	})
}

// TestBundleWantsALockThatLingers: its client is told, and gives it back.
func TestBundleWantsALockThatLingers(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		c := clientOn(t, connect(t, single(server)))
		ctx := ctxFor(t)
		for !passThrough(t, server, c, "b") {
			if ctx.Err() != nil {
				t.Fatal("it does not linger")
			}
		}
		b := open(t, connect(t, single(server)), nil)
		start := time.Now()
		for i := 0; ; i++ {
			_, err := b.(driver.Bundler).AcquireAll(ctx, requests(fmt.Sprint(uuidB, ":", i), "a", "b"))
			if err == nil {
				break
			}
			if !errors.Is(err, driver.ErrHeld) {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took > time.Second { // its lease is longer
			t.Errorf("it was had after %s", took)
		}
	})
}
