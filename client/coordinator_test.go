package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// parts are the participants of most tests.
func parts() map[string]txn.Func {
	return map[string]txn.Func{
		"echo":   func(_ context.Context, call txn.Call) ([]byte, error) { return call.Payload, nil },
		"refuse": func(context.Context, txn.Call) ([]byte, error) { return nil, txn.Abort(errors.New("sold out")) },
		"undo":   func(context.Context, txn.Call) ([]byte, error) { return nil, nil },
		"fail":   func(context.Context, txn.Call) ([]byte, error) { return nil, errors.New("broken") },
	}
}

// held is a participant that says pending until it is let go.
func held() (f txn.Func, let func()) {
	var free atomic.Bool
	return func(context.Context, txn.Call) ([]byte, error) {
		if free.Load() {
			return []byte(`"done"`), nil
		}
		return nil, txn.Pending(10 * time.Millisecond)
	}, func() { free.Store(true) }
}

func one(do txn.Target) *saga.Saga { return saga.New("test").Step("a", do, "undo") }

func TestRunCommits(t *testing.T) {
	c := setup(t, parts())
	for range 3 {
		r, err := one("echo").Run(t.Context(), c, map[string]int{"n": 7})
		if err != nil || r.Outcome != txn.Committed || r.ID == "" || string(r.Returned["a"]) != `{"n":7}` {
			t.Errorf("result %+v, error %v", r, err)
		}
	}
}

func TestRunRollsBack(t *testing.T) {
	c := setup(t, parts())
	r, err := one("refuse").Run(t.Context(), c, nil)
	e, ok := errors.AsType[*txn.RolledBackError](err)
	if !ok || r.Outcome != txn.RolledBack || e.ID != r.ID || !strings.Contains(e.Reason, "sold out") {
		t.Errorf("result %+v, error %v", r, err)
	}
}

func TestRunParks(t *testing.T) {
	c := setup(t, parts())
	s := one("fail").Policy(txn.Policy{Attempts: 1, Then: txn.Park})
	r, err := s.Run(t.Context(), c, nil)
	if _, ok := errors.AsType[*txn.ParkedError](err); !ok || r.Outcome != txn.InDoubt {
		t.Errorf("result %+v, error %v", r, err)
	}
	if err := c.Act(t.Context(), r.ID, txn.ActAbandon, "test"); err != nil {
		t.Fatal(err)
	}
	_, err = c.Wait(t.Context(), r.ID)
	if e, ok := errors.AsType[*txn.InDoubtError](err); !ok || e.Err != nil {
		t.Errorf("an abandoned transaction: %v", err)
	}
}

// TestErrorsAreThoseOfTheEngine: a program cannot tell the remote coordinator from
// the embedded one.
func TestErrorsAreThoseOfTheEngine(t *testing.T) {
	co := engine(t, parts())
	remote := dial(t, serve(t, handler(t, co, nil)).url(), nil)
	ctx := t.Context()
	for _, c := range []txn.Coordinator{co, remote} {
		tcc := txn.Definition{Mode: "tcc", Timeout: time.Minute}
		id, err := c.Begin(ctx, tcc)
		if err != nil {
			t.Fatal(err)
		}
		for what, check := range map[string]func() bool{
			"other content": func() bool {
				_, err := c.Begin(ctx, txn.Definition{ID: id, Mode: "tcc", Timeout: time.Hour})
				return errors.Is(err, txn.ErrExists)
			},
			"same content": func() bool {
				tcc.ID = id
				_, err := c.Begin(ctx, tcc)
				return err == nil
			},
			"no such transaction": func() bool {
				_, err := c.Wait(ctx, "nobody")
				return errors.Is(err, txn.ErrNotFound) && errors.Is(c.Commit(ctx, "nobody"), txn.ErrNotFound)
			},
			"a field": func() bool {
				_, err := c.Submit(ctx, txn.Definition{
					Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "x", After: []string{"b"}}},
				})
				e, ok := errors.AsType[*txn.InvalidError](err)
				return ok && e.Field == "branches[0].after"
			},
			"a field of what joins": func() bool {
				err := c.Enlist(ctx, id, txn.Branch{ID: "a", Do: "x", Confirm: "echo"})
				e, ok := errors.AsType[*txn.InvalidError](err)
				return ok && e.Field == "branches[0].do"
			},
		} {
			if !check() {
				t.Errorf("%T: %s", c, what)
			}
		}
		if err := c.RollBack(ctx, id, "changed my mind"); err != nil {
			t.Errorf("%T: roll back: %v", c, err)
		}
		if err := c.Commit(ctx, id); !errors.Is(err, txn.ErrDecided) {
			t.Errorf("%T: commit after roll back: %v", c, err)
		}
		if err := c.Enlist(ctx, id,
			txn.Branch{ID: "a", Confirm: "echo", Undo: "undo"}); !errors.Is(err, txn.ErrDecided) {
			t.Errorf("%T: enlist after roll back: %v", c, err)
		}
	}
	if err := remote.Act(ctx, "nobody", txn.ActRetry, "test"); !errors.Is(err, txn.ErrNotFound) {
		t.Errorf("act on nobody: %v", err)
	}
	if err := remote.Act(ctx, "nobody", "explode", ""); err == nil {
		t.Error("an unknown action is accepted")
	}
}

func TestBeginEnlistCommit(t *testing.T) {
	c, ctx := setup(t, parts()), t.Context()
	id, err := c.Begin(ctx, txn.Definition{Mode: "tcc", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Enlist(ctx, id, txn.Branch{ID: "a", Confirm: "echo", Undo: "undo"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(ctx, id); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Wait(ctx, id); err != nil || r.Outcome != txn.Committed {
		t.Errorf("result %+v, error %v", r, err)
	}
}

func TestInspection(t *testing.T) {
	co := engine(t, parts())
	c, ctx := dial(t, serve(t, handler(t, co, nil)).url(), nil), t.Context()
	r, err := one("echo").Run(ctx, c, "payload")
	if err != nil {
		t.Fatal(err)
	}
	want, err := co.Get(ctx, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Get(ctx, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got,
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".graph" }, cmp.Ignore()),
		cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
		t.Errorf("transaction (-embedded +remote):\n%s", diff)
	}
	for range 4 {
		if _, err := one("echo").Submit(ctx, c, nil); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	q := txn.Query{Limit: 2, Mode: "saga"}
	for {
		page, err := c.List(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range page.Transactions {
			seen[found.ID] = true
		}
		if q.Before = page.Next; q.Before.ID == "" {
			break
		}
	}
	if len(seen) != 5 || !seen[r.ID] {
		t.Errorf("listed %d transactions", len(seen))
	}
	if _, err := c.List(ctx, txn.Query{Limit: 5000}); err == nil {
		t.Error("a page too large is given")
	}
}

// TestANegativePageIsTakenForAnother: a number that the message has no room for is refused, and does not
// become one that there is room for.
func TestANegativePageIsTakenForAnother(t *testing.T) {
	co := engine(t, parts())
	c := dial(t, serve(t, handler(t, co, nil)).url(), nil)
	for _, limit := range []int{-1, -1 << 32, -1<<32 + 7, 1<<32 + 7} {
		_, here := co.List(t.Context(), txn.Query{Limit: limit})
		_, there := c.List(t.Context(), txn.Query{Limit: limit})
		if !errors.Is(here, txn.ErrInvalid) || !errors.Is(there, txn.ErrInvalid) {
			t.Errorf("%d: the coordinator says %v, its client %v", limit, here, there)
		}
	}
}

func TestTopics(t *testing.T) {
	c, ctx := setup(t, parts()), t.Context()
	if err := c.Subscribe(ctx, "orders", "echo"); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Subscribers(ctx, "orders"); err != nil || len(got) != 1 || got[0] != "echo" {
		t.Errorf("subscribers %v, error %v", got, err)
	}
	if err := c.Unsubscribe(ctx, "orders", "echo"); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Subscribers(ctx, "orders"); err != nil || len(got) != 0 {
		t.Errorf("subscribers %v, error %v", got, err)
	}
}

// TestWaitOutlastsTheServersPatience: long waits are made of short ones.
func TestWaitOutlastsTheServersPatience(t *testing.T) {
	f, let := held()
	co := engine(t, map[string]txn.Func{"held": f, "undo": f})
	c := dial(t,
		serve(t,
			handler(t, co, func(o *server.Options) { o.Limits = &server.Limits{Wait: 5 * time.Millisecond} })).url(),
		nil)
	time.AfterFunc(100*time.Millisecond, let)
	if r, err := one("held").Run(t.Context(), c, nil); err != nil || r.Outcome != txn.Committed {
		t.Errorf("result %+v, error %v", r, err)
	}
}

// TestRunSurvivesARestart stops the server in the middle of a wait.
func TestRunSurvivesARestart(t *testing.T) {
	f, let := held()
	s := serve(t, handler(t, engine(t, map[string]txn.Func{"held": f, "undo": f}), nil))
	c := dial(t, s.url(), nil)
	done := make(chan error, 1)
	go func() {
		_, err := one("held").ID("r").Run(t.Context(), c, nil)
		done <- err
	}()
	for _, err := c.Get(t.Context(), "r"); err != nil; _, err = c.Get(t.Context(), "r") {
		if !errors.Is(err, txn.ErrNotFound) {
			t.Fatal(err)
		}
	}
	s.end()
	s.start()
	let()
	if err := <-done; err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// TestAcceptedIsInDoubtWithoutAServer: the transaction goes on when its server comes
// back, so nobody may believe that nothing happened.
func TestAcceptedIsInDoubtWithoutAServer(t *testing.T) {
	f, _ := held()
	s := serve(t, handler(t, engine(t, map[string]txn.Func{"held": f, "undo": f}), nil))
	c := dial(t, s.url(), &client.Options{Patience: 50 * time.Millisecond})
	id, err := one("held").Submit(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := one("held").ID("r").Run(t.Context(), c, nil)
		done <- err
	}()
	for _, err := c.Get(t.Context(), "r"); err != nil; _, err = c.Get(t.Context(), "r") {
		if !errors.Is(err, txn.ErrNotFound) {
			t.Fatal(err)
		}
	}
	s.end()
	if e, ok := errors.AsType[*txn.InDoubtError](<-done); !ok || e.ID != "r" {
		t.Errorf("run: %v", e)
	}
	if _, err := c.Wait(t.Context(), id); err == nil {
		t.Error("wait: no error")
	} else if _, ok := errors.AsType[*txn.InDoubtError](err); !ok {
		t.Errorf("wait: %v", err)
	}
}

// TestLostReplyIsNotASecondTransaction loses the answer to a submit.
func TestLostReplyIsNotASecondTransaction(t *testing.T) {
	s := serve(t, handler(t, engine(t, parts()), nil))
	p := proxy(t, s.addr)
	c := dial(t, "http://"+p.Addr(), nil)
	p.DropRepliesTo("Submit", 2)
	r, err := one("echo").Run(t.Context(), c, nil)
	if err != nil || r.Outcome != txn.Committed {
		t.Errorf("result %+v, error %v", r, err)
	}
	if lost := p.Evidence().RepliesLost; lost != 2 {
		t.Errorf("%d replies were lost, want 2", lost)
	}
	page, err := c.List(t.Context(), txn.Query{})
	if err != nil || len(page.Transactions) != 1 {
		t.Errorf("%d transactions, want 1; error %v", len(page.Transactions), err)
	}
}

func proxy(t *testing.T, addr string) *chaos.Proxy {
	t.Helper()
	p, err := chaos.New(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestUnreachableIsNotInDoubt: what was never sent has not happened. Errors say once that
// nobody was there.
func TestUnreachableIsNotInDoubt(t *testing.T) {
	s := serve(t, handler(t, engine(t, parts()), nil))
	s.end()
	for _, patience := range []time.Duration{-1, 50 * time.Millisecond} {
		c := dial(t, s.url(), &client.Options{Patience: patience})
		_, err := one("echo").Run(t.Context(), c, nil)
		if _, doubt := errors.AsType[*txn.InDoubtError](err); doubt || !errors.Is(err, txn.ErrUnavailable) {
			t.Errorf("run: %v", err)
		}
		if _, err := c.Get(t.Context(), "a"); !errors.Is(err, txn.ErrUnavailable) {
			t.Errorf("get: %v", err)
		}
		err = c.Act(t.Context(), "a", txn.ActRetry, "test")
		if !errors.Is(err, txn.ErrUnavailable) || strings.Count(err.Error(), "unavailable") != 1 {
			t.Errorf("act: %v", err)
		}
		_, err = c.Backend().Acquire(t.Context(), driver.Request{Name: "a", Owner: "me", TTL: time.Second, Tokens: 1})
		if !errors.Is(err, driver.ErrUnavailable) || strings.Count(err.Error(), "unavailable") != 1 {
			t.Errorf("acquire: %v", err)
		}
	}
}

// TestNoAnswerIsInDoubt: what was sent may have happened.
func TestNoAnswerIsInDoubt(t *testing.T) {
	s := serve(t, handler(t, engine(t, parts()), nil))
	p := proxy(t, s.addr)
	c := dial(t, "http://"+p.Addr(), &client.Options{Patience: -1})
	p.DropReplies(1)
	_, err := one("echo").ID("x").Run(t.Context(), c, nil)
	if e, ok := errors.AsType[*txn.InDoubtError](err); !ok || e.ID != "x" || e.Err == nil {
		t.Errorf("run: %v", err)
	}
	if r, err := c.Wait(t.Context(), "x"); err != nil || r.Outcome != txn.Committed {
		t.Errorf("asked again: result %+v, error %v", r, err)
	}
}

// TestCallsEndWithTheirContext: against a server that takes everything and says
// nothing.
func TestCallsEndWithTheirContext(t *testing.T) {
	s := serve(t, handler(t, engine(t, parts()), nil))
	p := proxy(t, s.addr)
	c := dial(t, "http://"+p.Addr(), nil)
	p.BlackHole(chaos.Both)
	for what, call := range map[string]func(context.Context) error{
		"run":    func(ctx context.Context) error { _, err := one("echo").Run(ctx, c, nil); return err },
		"submit": func(ctx context.Context) error { _, err := one("echo").Submit(ctx, c, nil); return err },
		"wait":   func(ctx context.Context) error { _, err := c.Wait(ctx, "x"); return err },
		"commit": func(ctx context.Context) error { return c.Commit(ctx, "x") },
		"get":    func(ctx context.Context) error { _, err := c.Get(ctx, "x"); return err },
		"list":   func(ctx context.Context) error { _, err := c.List(ctx, txn.Query{}); return err },
		"act":    func(ctx context.Context) error { return c.Act(ctx, "x", txn.ActRetry, "test") },
		"topics": func(ctx context.Context) error { return c.Subscribe(ctx, "x", "y") },
		"watch":  func(ctx context.Context) error { return firstError(c.Watch(ctx, "x")) },
	} {
		// Long enough for the request to be sent: before that nothing is in doubt.
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		start := time.Now()
		err := call(ctx)
		cancel()
		if took := time.Since(start); took > time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v after %v", what, err, took)
		}
		_, doubt := errors.AsType[*txn.InDoubtError](err)
		if reads := what == "get" || what == "list" || what == "watch"; reads == doubt {
			t.Errorf("%s: in doubt: %v", what, err)
		}
	}
}

func TestTokenIsShown(t *testing.T) {
	tokens, err := auth.ParseTokens(strings.NewReader("client app " + auth.HashToken("secret")))
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, handler(t, engine(t, parts()), func(o *server.Options) { o.Tokens = tokens })).url()
	if _, err := one("echo").Run(t.Context(), dial(t, url, &client.Options{Token: "secret"}), nil); err != nil {
		t.Error(err)
	}
	stranger := dial(t, url, &client.Options{Token: "other"})
	start := time.Now()
	_, err = one("echo").Run(t.Context(), stranger, nil)
	if _, doubt := errors.AsType[*txn.InDoubtError](err); err == nil || doubt || time.Since(start) > time.Second {
		t.Errorf("with a wrong token: %v after %v", err, time.Since(start))
	}
	if err := firstError(stranger.Watch(t.Context(), "x")); err == nil {
		t.Error("a stranger watches")
	}
	friend := dial(t, url, &client.Options{Token: "secret"})
	if err := friend.Act(t.Context(), "x", txn.ActRetry, "test"); err == nil ||
		!strings.Contains(err.Error(), "needs operator") {
		t.Errorf("act as client: %v", err)
	}
}

func TestDialRefuses(t *testing.T) {
	for _, address := range []string{
		"", "127.0.0.1:7700", "ftp://host", "http://", "http://user:secret@host", "http://host?x=1", "http://host#x",
		"http://a b", "://", "http://user:secret@host:port", "http://user:secret@ho st",
		"http://host:99999", "http://host:65536", "http://host:0", "http://user:secret@host:99999",
	} {
		_, err := client.Dial(address, nil)
		if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != "address" {
			t.Errorf("%q: %v", address, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the password is in %v", address, err)
		}
	}
	for _, c := range []struct {
		field string
		opts  client.Options
	}{
		{"patience", client.Options{Patience: 5}},
		{"patience", client.Options{Patience: -5}},
		{"token", client.Options{Token: "a b"}},
		{"tls", client.Options{TLS: new(tls.Config), HTTP: new(http.Client)}},
	} {
		_, err := client.Dial("http://host", &c.opts)
		if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != c.field {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}

// TestRedirectsAreNotFollowed: they would take the token elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	trap := serve(t,
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("reached with %v", r.Header) }))
	s := serve(t, http.RedirectHandler(trap.url(), http.StatusTemporaryRedirect))
	c := dial(t, s.url(), &client.Options{Token: "secret", Patience: -1})
	if _, err := one("echo").Run(t.Context(), c, nil); err == nil {
		t.Error("a redirect is taken for an answer")
	}
}

// TestARefusedDefinitionIsToldInDoubt: its outcome is empty, as it was never accepted.
func TestARefusedDefinitionIsToldInDoubt(t *testing.T) {
	c := setup(t, parts())
	res, err := c.Run(t.Context(), txn.Definition{Mode: "no such mode"})
	if _, ok := errors.AsType[*txn.InvalidError](err); !ok || res.Outcome != "" || res.Reason == "" {
		t.Errorf("%+v %v", res, err)
	}
}

// TestARefusedLongIDLeavesADoubt: the answer told the ID in a header that no client reads to its end.
func TestARefusedLongIDLeavesADoubt(t *testing.T) {
	co := engine(t, parts())
	remote := dial(t, serve(t, handler(t, co, nil)).url(), nil)
	for _, c := range []txn.Coordinator{co, remote} {
		_, err := one("echo").ID(strings.Repeat("x", 70_000)).Submit(t.Context(), c, nil)
		if !errors.Is(err, txn.ErrInvalid) {
			t.Errorf("%T: %.300v", c, err)
		}
	}
}
