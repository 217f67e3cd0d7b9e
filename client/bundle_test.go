package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
	"github.com/bedrock-go/bedrock/server"
)

// bundling is what a client's backend has besides what every backend has.
type bundling interface {
	driver.Backend
	driver.Waiter
	driver.Inspector
	driver.Bundler
	driver.Annotator
	driver.Downgrader
	driver.Latches
	driver.Notifier
	driver.Pleader
}

// remote returns the locks of a server.
func remote(t *testing.T, h http.Handler) bundling {
	t.Helper()
	b := dial(t, serve(t, h).url(), nil).Backend().(bundling)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// serving serves the locks of a backend.
func serving(t *testing.T, locks driver.Backend) http.Handler {
	t.Helper()
	h, err := server.New(server.Services{Locks: locks}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// bundle asks for locks of those names.
func bundle(owner string, names ...string) []driver.Request {
	reqs := make([]driver.Request, len(names))
	for i, name := range names {
		reqs[i] = driver.Request{Name: name, Owner: owner, TTL: time.Minute, Tokens: 1, Meta: `{"by":"` + owner + `"}`}
	}
	return reqs
}

// TestBundlesLoseSomethingOnTheWay: what is granted, and what a refusal says.
func TestBundlesLoseSomethingOnTheWay(t *testing.T) {
	b := remote(t, serving(t, memlock.NewBackend(nil)))
	if !b.Together([]string{"a", "b"}) {
		t.Error("the server is not even asked")
	}
	grants, err := b.AcquireAll(t.Context(), bundle("me", "b", "a"))
	if err != nil || len(grants) != 2 || grants[0].Name != "b" || grants[1].Name != "a" || grants[1].Token == 0 {
		t.Fatalf("%+v, %v", grants, err)
	}
	again, err := b.AcquireAll(t.Context(), bundle("me", "b", "a"))
	if err != nil || again[0].Token != grants[0].Token {
		t.Errorf("repeated: %+v, %v", again, err)
	}
	_, err = b.AcquireAll(t.Context(), bundle("you", "c", "a", "b"))
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok || held.Name != "a" || held.Owner != driver.PublicOwner("me") || held.TTL <= 0 || held.TTL > time.Minute {
		t.Errorf("refused by %+v, %v", held, err)
	}
	if _, err := b.AcquireAll(t.Context(), bundle("you", "c")); err != nil {
		t.Errorf("a refusal has changed something: %v", err)
	}
	if err := b.Annotate(t.Context(), grants[0], `{"step":"2"}`); err != nil {
		t.Error(err)
	}
	if info, err := b.Inspect(t.Context(), "b"); err != nil || info.Holders[0].Meta != `{"step":"2"}` {
		t.Errorf("%+v, %v", info, err)
	}
	stranger := driver.Grant{Name: "b", Owner: "you"}
	if err := b.Annotate(t.Context(), stranger, ""); !errors.Is(err, driver.ErrLost) {
		t.Errorf("annotated by a stranger: %v", err)
	}
}

// TestWhatCannotBeIsSent to a server, which might make something up for it.
func TestWhatCannotBeIsSent(t *testing.T) {
	b := remote(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s is sent", r.URL) }))
	reqs := bundle("me", "a", "a")
	_, all := b.AcquireAll(t.Context(), reqs)
	note := b.Annotate(t.Context(), driver.Grant{Name: "a"}, "")
	downgrade := b.Downgrade(t.Context(), driver.Grant{Name: "a"})
	_, set := b.SetLatch(t.Context(), "l", "", 1)
	_, down := b.CountDown(t.Context(), "l", "id", -1)
	_, ask := b.Plead(t.Context(), "a", driver.Plea{Reason: "two\nlines"})
	for what, err := range map[string]error{
		"all": all, "note": note, "downgrade": downgrade, "set": set, "down": down, "ask": ask,
	} {
		if !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// calls are those that not every server has.
func calls(b bundling) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"acquire all": func(ctx context.Context) error {
			_, err := b.AcquireAll(ctx, bundle("me", "a", "b"))
			return err
		},
		"annotate": func(ctx context.Context) error {
			return b.Annotate(ctx, driver.Grant{Name: "a", Owner: "me"}, "")
		},
		"downgrade": func(ctx context.Context) error {
			return b.Downgrade(ctx, driver.Grant{Name: "a", Owner: "me", Mode: driver.Write})
		},
		"set latch":   func(ctx context.Context) error { _, err := b.SetLatch(ctx, "l", "1", 2); return err },
		"count down":  func(ctx context.Context) error { _, err := b.CountDown(ctx, "l", "2", 1); return err },
		"latch count": func(ctx context.Context) error { _, err := b.LatchCount(ctx, "l"); return err },
		"drop latch":  func(ctx context.Context) error { _, err := b.DropLatch(ctx, "l"); return err },
		"ask": func(ctx context.Context) error {
			_, err := b.Plead(ctx, "a", driver.Plea{})
			return err
		},
		"watch": func(ctx context.Context) error { _, err := b.Watch(ctx, "l", driver.Latch); return err },
	}
}

// deaf is a server that has not heard of latches, nor of more.
type deaf struct {
	bedrockv1connect.UnimplementedLockServiceHandler
}

func (deaf) Listen(
	_ context.Context, m *bedrockv1.ListenRequest, _ *connect.ServerStream[bedrockv1.ListenResponse],
) error {
	_, err := driver.ParseMode(m.GetMode())
	return apiwire.Invalid(err)
}

// TestOldServersAreAway: who takes them for that asks again and again. Neither is one whose store has none of it.
func TestOldServersAreAway(t *testing.T) {
	_, old := bedrockv1connect.NewLockServiceHandler(deaf{})
	for name, h := range map[string]http.Handler{
		"old server": old, "plain store": serving(t, struct{ driver.Backend }{memlock.NewBackend(nil)}),
	} {
		b := remote(t, h)
		for what, call := range calls(b) {
			if err := call(t.Context()); !errors.Is(err, driver.ErrUnsupported) || errors.Is(err, driver.ErrSpent) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if b.Together([]string{"c"}) {
			t.Errorf("%s: asked again for what it never has", name)
		}
	}
}

// distant is a store that has no two locks in one place.
type distant struct{ *bedrocktest.Backend }

func (distant) Together(names []string) bool { return len(names) == 1 }

// TestNamesThatAreApartSpoilOthers: only these are not to be had in one step.
func TestNamesThatAreApartSpoilOthers(t *testing.T) {
	b := remote(t, serving(t, distant{bedrocktest.NewBackend(memlock.NewBackend(nil))}))
	_, err := b.AcquireAll(t.Context(), bundle("me", "a", "b"))
	if !errors.Is(err, driver.ErrUnsupported) || errors.Is(err, driver.ErrSpent) {
		t.Errorf("apart: %v", err)
	}
	if !b.Together([]string{"a"}) {
		t.Error("the server is not asked for others")
	}
	if _, err := b.AcquireAll(t.Context(), bundle("me", "a")); err != nil {
		t.Error(err)
	}
}

// TestCallsOutliveTheirCallers by more than a moment.
func TestCallsOutliveTheirCallers(t *testing.T) {
	b := remote(t, silent())
	for what, call := range calls(b) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := call(ctx)
		end, _ := ctx.Deadline()
		if late := time.Since(end); err == nil || late > 200*time.Millisecond {
			t.Errorf("%s: %v, %v after its context", what, err, late)
		}
		if errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("%s: told as certain: %v", what, err)
		}
		cancel()
	}
}

// TestABundleIsLeftBehind: its caller has gone while the store was at it, and knows until when that goes on.
func TestABundleIsLeftBehind(t *testing.T) {
	store := bedrocktest.NewBackend(memlock.NewBackend(nil))
	b := remote(t, serving(t, store))
	store.Fail(bedrocktest.AcquireAll, bedrocktest.Fault{Linger: 300 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := b.AcquireAll(ctx, bundle("me", "a", "b"))
	underway, ok := errors.AsType[*driver.UnderwayError](err)
	if !ok {
		t.Fatal(err)
	}
	<-underway.Ended
	held, err := store.List(t.Context(), "", 9)
	if err != nil || len(held) != 2 {
		t.Errorf("the call was broken off: %+v, %v", held, err)
	}
}
