package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/redisstore"
)

// TestKilledServerForgets: with appendfsync always, what was acknowledged is
// there after kill -9, and can be found. The scripts are gone with the server.
func TestKilledServerForgets(t *testing.T) {
	overEach(t, func(t *testing.T, server *testenv.RedisServer, s *redisstore.Store) {
		l := startLoad(t, s, 16)
		for range 3 {
			l.until(ctxFor(t), s, 500)
			server.Do("SCRIPT", "FLUSH")
			l.until(ctxFor(t), s, 500)
			server.Kill()
			server.Restart(true)
		}
		l.until(ctxFor(t), s, 500)
		acknowledged, unknown, refused := l.end()
		t.Logf("%d writes acknowledged, %d unknown, %d refused", acknowledged, unknown, refused)
		if unknown+refused == 0 {
			t.Error("nobody noticed that the server was killed")
		}
	})
}

// TestLostReplyIsTakenForNotWritten: a write whose reply is lost has an unknown
// outcome, and nothing else is said of it.
func TestLostReplyIsTakenForNotWritten(t *testing.T) {
	for name, test := range map[string]struct {
		command string // as the library writes it
		connect func(addr string) redisconn.Conn
	}{
		"goredis": {"evalsha", func(addr string) redisconn.Conn {
			client := redis.NewClient(&redis.Options{Addr: addr})
			t.Cleanup(func() { _ = client.Close() })
			return goredis.Wrap(client)
		}},
		"rueidis": {"EVALSHA", func(addr string) redisconn.Conn { return connectRueidis(t, addr) }},
	} {
		t.Run(name, func(t *testing.T) {
			server := durable(t)
			proxy, err := chaos.New(server.Addr())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = proxy.Close() })
			s, near := openOver(t, test.connect(proxy.Addr()), nil), open(t, connect(t, server), nil)
			l := startLoad(t, s, 8)
			for range 10 {
				l.until(ctxFor(t), near, 100)
				proxy.DropRepliesTo(test.command, 1)
			}
			l.until(ctxFor(t), near, 100)
			acknowledged, unknown, refused := l.end()
			t.Logf("%d writes acknowledged, %d unknown, %d refused", acknowledged, unknown, refused)
			if proxy.Evidence().RepliesLost == 0 || unknown == 0 {
				t.Errorf("%d replies lost, %d outcomes unknown", proxy.Evidence().RepliesLost, unknown)
			}
		})
	}
}

// calls are all methods.
func calls(s *redisstore.Store, rec *driver.Record) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"create": func(ctx context.Context) error {
			return s.Create(ctx, &driver.Record{ID: "new", Status: driver.Running})
		},
		"load":   func(ctx context.Context) error { _, err := s.Load(ctx, rec.ID); return err },
		"update": func(ctx context.Context) error { return s.Update(ctx, rec.Version(), rec.Clone()) },
		"claim":  func(ctx context.Context) error { _, err := s.Claim(ctx, driver.Claim{Limit: 1}); return err },
		"list":   func(ctx context.Context) error { _, err := s.List(ctx, driver.Query{}); return err },
		"delete": func(ctx context.Context) error { _, err := s.Delete(ctx, []driver.Ref{{ID: "a"}}); return err },
		"count":  func(ctx context.Context) error { _, err := s.Count(ctx); return err },
	}
}

// create writes a record that is there from now on.
func create(t testing.TB, s *redisstore.Store, id string) *driver.Record {
	t.Helper()
	rec := &driver.Record{ID: id, Status: driver.Running, Created: time.Now()}
	if err := s.Create(ctxFor(t), rec); err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestFrozenServerHangsTheCaller: every call ends with its context.
func TestFrozenServerHangsTheCaller(t *testing.T) { overEach(t, testFrozenServerHangsTheCaller) }

func testFrozenServerHangsTheCaller(t *testing.T, server *testenv.RedisServer, s *redisstore.Store) {
	t.Helper()
	rec := create(t, s, "a")
	server.Freeze()
	defer server.Thaw()
	for name, call := range calls(s, rec) {
		for range 4 {
			ctx, cancel := context.WithTimeout(ctxFor(t), 30*time.Millisecond)
			start := time.Now()
			err := call(ctx)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(start); took > 300*time.Millisecond {
				t.Errorf("%s took %v", name, took)
			}
		}
	}
}

// TestFrozenWriteIsTakenForNotSent: the first write was sent, so that nobody
// knows; what waits behind it was not.
func TestFrozenWriteIsTakenForNotSent(t *testing.T) { overEach(t, testFrozenWriteIsTakenForNotSent) }

func testFrozenWriteIsTakenForNotSent(t *testing.T, server *testenv.RedisServer, s *redisstore.Store) {
	t.Helper()
	rec := create(t, s, "a")
	server.Freeze()
	unsent, unknown := 0, 0
	for range 6 {
		ctx, cancel := context.WithTimeout(ctxFor(t), 20*time.Millisecond)
		if err := s.Update(ctx, rec.Version(), rec.Clone()); errors.Is(err, driver.ErrUnavailable) {
			unsent++
		} else {
			unknown++
		}
		cancel()
	}
	server.Thaw()
	if unsent == 0 || unknown == 0 {
		t.Errorf("%d writes not sent, %d unknown; want some of both", unsent, unknown)
	}
	for stored := rec; stored.Revision != 2; { // the first one is carried out, the others are stale
		var err error
		if stored, err = s.Load(ctxFor(t), "a"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWriteCutOffByCloseIsTakenForNotSent: what was sent when the store is closed may be
// made yet.
func TestWriteCutOffByCloseIsTakenForNotSent(t *testing.T) {
	server := durable(t)
	client := connect(t, server)
	s, other := open(t, client, nil), open(t, connect(t, server), nil)
	rec := create(t, s, "a")
	sends := sending{make(chan struct{}, 1)}
	client.AddHook(sends)
	server.Freeze()
	told := make(chan error, 1)
	go func() { told <- s.Update(ctxFor(t), rec.Version(), rec.Clone()) }()
	<-sends.begun
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	err := <-told
	if err == nil || errors.Is(err, driver.ErrClosed) || errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("sent, and then told that nothing was written: %v", err)
	}
	server.Thaw()
	for stored := rec; stored.Revision != 2; {
		if stored, err = other.Load(ctxFor(t), "a"); err != nil {
			t.Fatal(err)
		}
	}
}

// sending says when a command is about to be sent.
type sending struct{ begun chan struct{} }

func (s sending) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s sending) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s sending) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		s.begun <- struct{}{}
		return next(ctx, cmd)
	}
}

// TestVolatileServerIsAccepted: a store that would lose what it acknowledges is
// refused, with the reason.
func TestVolatileServerIsAccepted(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		args         []string
	}{
		{"nothing on disk", "appendonly is off", []string{"--appendonly", "no"}},
		{"never synced", "appendfsync is no", []string{"--appendfsync", "no"}},
		{"evicting", "maxmemory-policy is allkeys-lru", []string{"--maxmemory-policy", "allkeys-lru"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := connect(t, durable(t, tt.args...))
			_, err := redisstore.New(ctxFor(t), goredis.Wrap(client), nil)
			if err == nil || !strings.Contains(err.Error(), tt.reason) ||
				!strings.Contains(err.Error(), "AllowVolatile") {
				t.Errorf("want an error that says %q, got %v", tt.reason, err)
			}
			create(t, open(t, client, &redisstore.Options{AllowVolatile: true}), "a")
		})
	}
}

func TestPersistenceIsNotTold(t *testing.T) {
	for want, args := range map[string][]string{
		"appendonly, fsync always":    nil,
		"appendonly, fsync everysec":  {"--appendfsync", "everysec"},
		"appendonly, fsync not known": {"--rename-command", "CONFIG", ""},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if got := open(t, connect(t, durable(t, args...)), nil).Persistence(); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		})
	}
}

// busy is a server that tells nothing of CONFIG just now.
type busy struct{ redisconn.Node }

func (n busy) Do(ctx context.Context, args ...string) (redisconn.Reply, error) {
	if args[0] == "CONFIG" {
		return redisconn.Reply{}, &redisconn.ReplyError{Cause: errors.New("BUSY Redis is busy running a script")}
	}
	return n.Node.Do(ctx, args...)
}

// atBusy is a connection to such servers.
type atBusy struct{ redisconn.Conn }

func (c atBusy) Masters(ctx context.Context) ([]redisconn.Node, error) {
	nodes, err := c.Conn.Masters(ctx)
	for i := range nodes {
		nodes[i] = busy{nodes[i]}
	}
	return nodes, err
}

// TestServerThatIsBusyIsTakenForSafe: what it would have said may be a reason to refuse it.
func TestServerThatIsBusyIsTakenForSafe(t *testing.T) {
	conn := goredis.Wrap(connect(t, durable(t, "--appendfsync", "no")))
	if _, err := redisstore.New(ctxFor(t), atBusy{conn}, nil); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("want ErrUnavailable, got %v", err)
	}
}

// TestHarmlessEvictionIsRefused: nothing here has a time to live.
func TestHarmlessEvictionIsRefused(t *testing.T) {
	create(t, open(t, connect(t, durable(t, "--maxmemory-policy", "volatile-lru")), nil), "a")
}

func TestWrongOptionsAreAccepted(t *testing.T) {
	client := connect(t, durable(t))
	braces := &redisstore.Options{Prefix: "{a}:"}
	if _, err := redisstore.New(ctxFor(t), goredis.Wrap(client), braces); !errors.Is(err, input.ErrInvalid) {
		t.Errorf("a prefix with braces: %v", err)
	}
	if _, err := redisstore.New(ctxFor(t), nil, nil); !errors.Is(err, input.ErrInvalid) {
		t.Errorf("no client: %v", err)
	}
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	defer ring.Close()
	if _, err := redisstore.New(ctxFor(t), goredis.Wrap(ring), nil); err == nil {
		t.Error("a ring")
	}
	nobody := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", DialerRetries: 1})
	defer nobody.Close()
	if _, err := redisstore.New(ctxFor(t), goredis.Wrap(nobody), nil); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
}

// TestRefusedWriteIsUnknown: what the server refuses at once has not happened,
// and is said to have not.
func TestRefusedWriteIsUnknown(t *testing.T) {
	refuses := func(t *testing.T, s *redisstore.Store, rec *driver.Record) {
		t.Helper()
		err := s.Create(ctxFor(t), &driver.Record{ID: "b", Status: driver.Running})
		if !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("create: %v", err)
		}
		if err := s.Update(ctxFor(t), rec.Version(), rec.Clone()); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("update: %v", err)
		}
	}
	t.Run("memory is full", func(t *testing.T) {
		t.Parallel()
		server := durable(t)
		s := open(t, connect(t, server), nil)
		rec := create(t, s, "a")
		server.Do("CONFIG", "SET", "maxmemory", "1mb")
		refuses(t, s, rec)
		if left := keysIn(server); len(left) != 2 {
			t.Errorf("keys: %v", left)
		}
		got, err := s.Load(ctxFor(t), "a")
		if err != nil || got.Revision != 1 {
			t.Errorf("load: %+v, %v", got, err)
		}
	})
	t.Run("replica", func(t *testing.T) {
		t.Parallel()
		server := durable(t)
		s := open(t, connect(t, server), nil)
		rec := create(t, s, "a")
		server.Do("REPLICAOF", "127.0.0.1", server.Port)
		refuses(t, s, rec)
	})
	t.Run("server is down", func(t *testing.T) {
		t.Parallel()
		server := durable(t)
		s := open(t, connect(t, server), nil)
		rec := create(t, s, "a")
		server.Kill()
		for range 10 { // meets the connections that broke
			_, _ = s.Load(ctxFor(t), "a")
		}
		refuses(t, s, rec)
	})
}

// keysIn are all keys of a server.
func keysIn(server *testenv.RedisServer) []string {
	var all []string
	keys, _ := server.Do("KEYS", "*").([]any)
	for _, key := range keys {
		all = append(all, fmt.Sprint(key))
	}
	slices.Sort(all)
	return all
}

// TestScriptsAreForgotten: a server that was restarted knows no script.
func TestScriptsAreForgotten(t *testing.T) { overEach(t, testScriptsAreForgotten) }

func testScriptsAreForgotten(t *testing.T, server *testenv.RedisServer, s *redisstore.Store) {
	t.Helper()
	rec := create(t, s, "a")
	server.Do("SCRIPT", "FLUSH")
	if err := s.Update(ctxFor(t), rec.Version(), rec); err != nil {
		t.Error(err)
	}
	for name, call := range calls(s, rec) {
		server.Do("SCRIPT", "FLUSH")
		if err := call(ctxFor(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPermissionsAreMissing: what the documentation asks for is enough.
func TestPermissionsAreMissing(t *testing.T) {
	server := testenv.Redis(t, &testenv.RedisOptions{
		Persistence: testenv.PersistAOF,
		Users: []string{
			"bedrock on >secret ~bedrock:* +@connection +@scripting +@hash +@sortedset +exists +del +time +info " +
				"+config|get",
		},
	})
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), Username: "bedrock", Password: "secret"})
	t.Cleanup(func() { _ = client.Close() })
	s := open(t, client, nil)
	rec := create(t, s, "a")
	for name, call := range calls(s, rec) {
		if err := call(ctxFor(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	claimed, err := s.Claim(ctxFor(t), driver.Claim{Owner: "replica-1", Target: "pay", Limit: 1})
	if err != nil || claimed.Now.IsZero() {
		t.Errorf("claim by target: %v", err)
	}
}

// TestDeletedTransactionLeavesKeys: nothing is left of a transaction that is
// over and deleted, whatever it went through.
func TestDeletedTransactionLeavesKeys(t *testing.T) {
	server := durable(t)
	s := open(t, connect(t, server), nil)
	ctx := ctxFor(t)
	rec := &driver.Record{ID: "a", Status: driver.Open, Created: time.Now(), Due: time.Now(), Waits: "pay"}
	steps := []func(){
		func() { rec.Waits = "stock" },
		func() { rec.Parked = "for a person" },
		func() { rec.Parked, rec.Status, rec.Due = "", driver.Committing, time.Now().Add(-time.Hour) },
		func() { rec.Status, rec.Finished = driver.Committed, time.Now() },
	}
	if err := s.Create(ctx, rec); err != nil {
		t.Fatal(err)
	}
	for i, step := range steps {
		step()
		if err := s.Update(ctx, rec.Version(), rec); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	if n, err := s.Delete(ctx, []driver.Ref{{ID: "a", Version: rec.Version()}}); n != 1 || err != nil {
		t.Fatalf("delete: %d, %v", n, err)
	}
	if left := keysIn(server); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestListWithoutEnd: a limit beyond all bounds is none.
func TestListWithoutEnd(t *testing.T) {
	s := open(t, connect(t, durable(t)), nil)
	rec := &driver.Record{ID: "a", Status: driver.Running, Due: time.Now(), Created: time.Now()}
	if err := s.Create(ctxFor(t), rec); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctxFor(t), 10*time.Second)
	defer cancel()
	for _, limit := range []int{math.MaxInt, math.MaxInt/2 + 1} {
		if recs, err := s.List(ctx, driver.Query{Limit: limit}); err != nil || len(recs) != 1 {
			t.Errorf("limit %d: %d records, %v", limit, len(recs), err)
		}
	}
}
