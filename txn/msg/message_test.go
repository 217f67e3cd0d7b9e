package msg_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/msg"
)

func TestBuilder(t *testing.T) {
	policy := &txn.Policy{Attempts: 5}
	got, err := msg.New("paid").
		To("mail", "https://mail/send").Payload("hello").Policy(txn.Policy{Timeout: time.Second}).
		Topic("orders.paid").
		Delay(time.Minute).Check("orders.check", time.Second, policy).Parallel(2).Header("tenant", "7").ID("m-1").
		Definition(1)
	if err != nil {
		t.Fatal(err)
	}
	want := txn.Definition{
		ID: "m-1", Mode: "msg", Name: "paid", Payload: []byte("1"), Delay: time.Minute, Parallel: 2,
		Headers: map[string]string{"tenant": "7"},
		Check:   &txn.Check{Target: "orders.check", After: time.Second, Policy: policy},
		Branches: []txn.Branch{
			{
				ID: "mail", Confirm: "https://mail/send", Payload: []byte(`"hello"`),
				Policy: &txn.Policy{Timeout: time.Second},
			},
			{ID: "topic/orders-paid", Confirm: "topic:orders.paid"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMistakes(t *testing.T) {
	for name, m := range map[string]*msg.Message{
		"Payload first": msg.New("").Payload(1),
		"Policy first":  msg.New("").Policy(txn.Policy{}),
		"payload":       msg.New("").To("a", "f").Payload(math.NaN()),
	} {
		t.Run(name, func(t *testing.T) {
			m.Check("check", 0, nil)
			_, sent := m.Send(t.Context(), nil, nil) // nil: would panic if it was used
			_, prepared := m.Prepare(t.Context(), nil, nil)
			_, done := m.Do(t.Context(), nil, nil, nil)
			for _, err := range []error{sent, prepared, done} {
				if _, ok := errors.AsType[*txn.InvalidError](err); !ok {
					t.Errorf("%v", err)
				}
			}
		})
	}
	_, err := msg.New("").To("a", "f").Do(t.Context(), nil, nil, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "check: is missing") {
		t.Errorf("without a check: %v", err)
	}
}

// receiver is who gets messages, and the producer that is asked.
type receiver struct {
	mu        sync.Mutex
	got       []string
	committed map[string]bool // the producer's local transactions
}

func (r *receiver) deliver(_ context.Context, call txn.Call) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, call.Branch+":"+string(call.Payload))
	return nil, nil
}

func (r *receiver) check(_ context.Context, call txn.Call) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.committed[call.Transaction] {
		return nil, txn.Abort(errors.New("no such order"))
	}
	return nil, nil
}

func (r *receiver) commit(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed[id] = true
}

func (r *receiver) messages() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.got))
}

// inBubble runs a test against the real engine, in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, co *coord.Coordinator, r *receiver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{committed: make(map[string]bool)}
		store := memstore.New(nil)
		co, err := coord.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(co.Register("mail", r.deliver), co.Register("check", r.check),
			co.Start(t.Context())); err != nil {
			t.Fatal(err)
		}
		test(t, co, r)
		if err := co.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		store.Close()
	})
}

func paid() *msg.Message {
	return msg.New("paid").To("a", "mail").To("b", "mail").Check("check", time.Second, nil)
}

// delivered waits for a message's end and compares who has got it.
func delivered(t *testing.T, co *coord.Coordinator, r *receiver, id string, want ...string) {
	t.Helper()
	res, err := co.Wait(t.Context(), id)
	if (len(want) > 0) != (err == nil) || err == nil && res.Outcome != txn.Committed {
		t.Errorf("%+v, %v", res, err)
	}
	if diff := cmp.Diff(want, r.messages()); diff != "" {
		t.Error(diff)
	}
}

// A message with a check can be sent at once, too: then nobody is asked.
func TestSend(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
		began := time.Now()
		id, err := paid().Delay(time.Minute).Timeout(time.Second).Send(t.Context(), co, 42)
		if err != nil {
			t.Fatal(err)
		}
		delivered(t, co, r, id, "a:42", "b:42")
		if took := time.Since(began); took < time.Minute || took > 61*time.Second {
			t.Errorf("delivered after %v", took)
		}
	})
}

func TestPrepareAndSubmit(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
		p, err := paid().ID("m-1").Prepare(t.Context(), co, 42)
		if err != nil || p.ID() != "m-1" {
			t.Fatal(p, err)
		}
		synctest.Wait()
		if got := r.messages(); got != nil {
			t.Errorf("delivered too early: %v", got)
		}
		if err := p.Submit(t.Context()); err != nil {
			t.Fatal(err)
		}
		delivered(t, co, r, p.ID(), "a:42", "b:42")
		if err := p.Cancel(t.Context(), "too late"); !errors.Is(err, txn.ErrDecided) {
			t.Errorf("cancel after submit: %v", err)
		}
	})
}

func TestPrepareAndCancel(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
		p, err := paid().Prepare(t.Context(), co, 42)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Cancel(t.Context(), "no money"); err != nil {
			t.Fatal(err)
		}
		delivered(t, co, r, p.ID())
	})
}

// A producer that is not heard of is asked.
func TestCheckBack(t *testing.T) {
	for name, committed := range map[string]bool{"committed": true, "not committed": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
				p, err := paid().Prepare(t.Context(), co, 42)
				if err != nil {
					t.Fatal(err)
				}
				if !committed {
					delivered(t, co, r, p.ID())
					return
				}
				r.commit(p.ID())
				delivered(t, co, r, p.ID(), "a:42", "b:42")
			})
		})
	}
}

// Without anybody to ask, a message that is not submitted in time is dropped.
func TestDropped(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
		began := time.Now()
		p, err := msg.New("paid").To("a", "mail").Timeout(time.Minute).Prepare(t.Context(), co, 42)
		if err != nil {
			t.Fatal(err)
		}
		delivered(t, co, r, p.ID())
		if took := time.Since(began); took < time.Minute || took > 62*time.Second {
			t.Errorf("dropped after %v", took)
		}
	})
}

func TestDo(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
		ctx, leave := context.WithCancel(t.Context())
		id, err := paid().Do(ctx, co, 42, func(_ context.Context, id string) error {
			r.commit(id)
			leave() // the word is given all the same
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		delivered(t, co, r, id, "a:42", "b:42")
	})
}

// TestDoCallsNothing: the message would wait for a word that nobody gives.
func TestDoCallsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, _ *receiver) {
		id, err := paid().Do(t.Context(), co, 42, nil)
		if _, ok := errors.AsType[*txn.InvalidError](err); !ok || id != "" {
			t.Errorf("%q, %v", id, err)
		}
		if page, err := co.List(t.Context(), txn.Query{}); err != nil || len(page.Transactions) > 0 {
			t.Errorf("%d transactions, %v", len(page.Transactions), err)
		}
	})
}

// A local transaction that was certainly not committed cancels the message at once.
func TestDoAborts(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
		began, errPoor := time.Now(), errors.New("no money")
		id, err := paid().Do(t.Context(), co, 42, func(context.Context, string) error { return txn.Abort(errPoor) })
		if !errors.Is(err, errPoor) {
			t.Errorf("%v", err)
		}
		if _, ok := errors.AsType[*txn.InDoubtError](err); ok {
			t.Errorf("in doubt: %v", err)
		}
		delivered(t, co, r, id)
		if took := time.Since(began); took >= time.Second {
			t.Errorf("left to the check for %v", took)
		}
	})
}

// After any other error the check finds out: the commit's answer may have been lost.
func TestDoLeavesDoubtsToTheCheck(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
		errLost := errors.New("connection lost while committing")
		id, err := paid().Do(t.Context(), co, 42, func(_ context.Context, id string) error {
			r.commit(id)
			return errLost
		})
		inDoubt, _ := errors.AsType[*txn.InDoubtError](err)
		if inDoubt == nil || inDoubt.ID != id || !errors.Is(err, errLost) {
			t.Errorf("%v", err)
		}
		delivered(t, co, r, id, "a:42", "b:42")
	})
}

// A local transaction that outlasts the check, and whose producer denied it, is told
// that the message is lost.
func TestDoAfterTheCheckSaidNo(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
		id, err := paid().Do(t.Context(), co, 42, func(context.Context, string) error {
			time.Sleep(5 * time.Second)
			return nil
		})
		if !errors.Is(err, txn.ErrDecided) {
			t.Errorf("%v", err)
		}
		delivered(t, co, r, id)
	})
}

// mute is a coordinator that has the message and then cannot be reached.
type mute struct{ txn.Coordinator }

func (mute) Begin(context.Context, txn.Definition) (string, error) { return "m", nil }
func (mute) Commit(context.Context, string) error                  { return txn.ErrUnavailable }
func (mute) RollBack(context.Context, string, string) error        { return txn.ErrUnavailable }

func TestDoWithoutCoordinator(t *testing.T) {
	errPoor := txn.Abort(errors.New("no money"))
	for name, failure := range map[string]error{"submit": nil, "cancel": errPoor} {
		t.Run(name, func(t *testing.T) {
			_, err := paid().Do(t.Context(), mute{}, 42, func(context.Context, string) error { return failure })
			if _, ok := errors.AsType[*txn.InDoubtError](err); !ok || !errors.Is(err, txn.ErrUnavailable) {
				t.Errorf("%v", err)
			}
			if failure != nil && !errors.Is(err, failure) {
				t.Errorf("the local error is lost in %v", err)
			}
		})
	}
}

func TestTopic(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, r *receiver) {
		if err := co.Subscribe(t.Context(), "orders.paid", "mail"); err != nil {
			t.Fatal(err)
		}
		id, err := msg.New("paid").Topic("orders.paid").Send(t.Context(), co, 42)
		if err != nil {
			t.Fatal(err)
		}
		delivered(t, co, r, id, "topic/orders-paid-1:42")
	})
}
