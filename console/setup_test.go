package console_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is what somebody may write wherever text is accepted.
const hostile = `"><script>window.caught=1</script><img src=x onerror="window.caught=2"><a ` +
	`href='javascript:window.caught=3'>`

// world is a console in front of a coordinator, with participants that answer in
// every way.
type world struct {
	*httptest.Server

	co    *coord.Coordinator
	locks *lock.Client
	store *memlock.Store // of locks
}

// operator is what package server makes of a client, without its audit trail.
type operator struct{ *lock.Client }

func (o operator) ForceRelease(ctx context.Context, name, _ string) (bool, error) {
	return o.Client.ForceRelease(ctx, name)
}

func newWorld(t *testing.T, adjust func(*console.Options)) *world {
	t.Helper()
	store := memstore.New(nil)
	co, err := coord.New(store, &coord.Options{Replica: "test", Poll: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	register(t, co)
	if err := co.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	shared := memlock.NewStore(nil)
	locks, err := memlock.New(shared, nil)
	if err != nil {
		t.Fatal(err)
	}
	stopping := make(chan struct{})
	opts := &console.Options{
		Operator: co, Counts: store, Locks: locks, LockOperator: operator{locks}, Name: "test",
		Stopping: func(context.Context) <-chan struct{} { return stopping },
	}
	if adjust != nil {
		adjust(opts)
	}
	h, err := console.New(co, opts)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Server: httptest.NewServer(h), co: co, locks: locks, store: shared}
	t.Cleanup(func() {
		close(stopping)
		w.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(co.Stop(ctx), locks.Stop(ctx)); err != nil {
			t.Error(err)
		}
	})
	return w
}

func register(t *testing.T, co *coord.Coordinator) {
	t.Helper()
	for name, f := range map[string]txn.Func{
		"ok": func(_ context.Context, call txn.Call) ([]byte, error) {
			return []byte(`{"by":"` + call.Branch + `","note":"<b>bold</b>"}`), nil
		},
		"refuse": func(context.Context, txn.Call) ([]byte, error) {
			return nil, txn.Abort(errors.New("no credit " + hostile))
		},
		"fail": func(context.Context, txn.Call) ([]byte, error) { return nil, errors.New("disk on fire " + hostile) },
		"slow": func(ctx context.Context, _ txn.Call) ([]byte, error) {
			select {
			case <-time.After(30 * time.Millisecond):
			case <-ctx.Done():
			}
			return nil, nil
		},
		"pending": func(context.Context, txn.Call) ([]byte, error) { return nil, txn.Pending(50 * time.Millisecond) },
	} {
		if err := co.Register(name, f); err != nil {
			t.Fatal(err)
		}
	}
}

// committed, rolledBack and stuck submit a transaction that comes to that.
func (w *world) committed(t *testing.T, id string) {
	t.Helper()
	order := map[string]any{"order": 42, "note": hostile}
	s := saga.New("order").Step("stock", "ok", "ok").Step("charge", "slow", "ok").Step("mail", "ok", "").ID(id)
	if _, err := s.Run(t.Context(), w.co, order); err != nil {
		t.Fatal(err)
	}
}

func (w *world) rolledBack(t *testing.T, id string) {
	t.Helper()
	s := saga.New("order").Step("stock", "slow", "slow").Step("charge", "slow", "ok").
		Step("ship", "refuse", "ok").Step("mail", "ok", "").ID(id)
	_, err := s.Run(t.Context(), w.co, nil)
	if _, ok := errors.AsType[*txn.RolledBackError](err); !ok {
		t.Fatal("want rolled back, got", err)
	}
}

func (w *world) stuck(t *testing.T, id string) {
	t.Helper()
	s := saga.New("<i>"+hostile[:40]).Step("stock", "ok", "ok").Step("charge", "fail", "ok").ID(id).
		Policy(txn.Policy{Backoff: 100 * time.Millisecond, MaxBackoff: 400 * time.Millisecond})
	if _, err := s.Submit(t.Context(), w.co, nil); err != nil {
		t.Fatal(err)
	}
	w.await(t, id, func(found *txn.Transaction) bool { return callsOf(found) > 2 })
}

// callsOf counts the calls that a transaction tells of.
func callsOf(t *txn.Transaction) (n int) {
	for i := range t.Attempts {
		n += t.Attempts[i].Times()
	}
	return n
}

// await waits until a transaction is as wanted.
func (w *world) await(t *testing.T, id string, as func(*txn.Transaction) bool) *txn.Transaction {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for found, err := range w.co.Watch(ctx, id) {
		if err != nil {
			t.Fatal(err)
		}
		if as(found) {
			return found
		}
	}
	t.Fatalf("transaction %s never became as wanted", id)
	return nil
}
