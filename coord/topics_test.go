package coord_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/msg"
)

// TestAMessageIsRefusedWhenItsSubscribersHaveGone although it was accepted before.
func TestAMessageIsRefusedWhenItsSubscribersHaveGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("mail"))
		must(t, c.Subscribe(t.Context(), "orders", "mail"))
		m := msg.New("paid").Topic("orders")
		_, err := m.ID("m-1").Send(t.Context(), c, 1)
		must(t, err)
		must(t, c.Unsubscribe(t.Context(), "orders", "mail"))
		if _, err := m.ID("m-1").Send(t.Context(), c, 1); err != nil {
			t.Errorf("sent again: %v", err)
		}
		for id, payload := range map[string]int{"m-1": 2, "m-2": 1} {
			if _, err := m.ID(id).Send(t.Context(), c, payload); err == nil {
				t.Errorf("%s with %d, never sent before, is accepted without subscribers", id, payload)
			}
		}
	})
}

// TestATopicIsLookedForUnderWhatIsNoName: whoever reads one is told the same as whoever
// changes one.
func TestATopicIsLookedForUnderWhatIsNoName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("mail"))
		for _, name := range []string{"", "a b", "a\x00b", strings.Repeat("a", 129)} {
			if _, err := c.Subscribers(t.Context(), name); !errors.Is(err, txn.ErrInvalid) {
				t.Errorf("%.10q is read: %v", name, err)
			}
			if err := c.Subscribe(t.Context(), name, "mail"); !errors.Is(err, txn.ErrInvalid) {
				t.Errorf("%.10q is changed: %v", name, err)
			}
		}
	})
}

// TestALongTopicCannotBeSentTo although it can be subscribed to.
func TestALongTopicCannotBeSentTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("mail"))
		first, second := strings.Repeat("a", 119)+"1", strings.Repeat("a", 119)+"2"
		must(t, c.Subscribe(t.Context(), first, "mail"))
		must(t, c.Subscribe(t.Context(), second, "mail"))
		_, err := msg.New("x").Topic(first).Topic(second).Send(t.Context(), c, 1)
		must(t, err)
	})
}

// TestAFullTopicCannotBeSentTo: each of its subscribers gets a branch of its own, with an
// ID that has to fit.
func TestAFullTopicCannotBeSentTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := make([]string, txn.MaxSubscribers)
		for i := range all {
			all[i] = fmt.Sprint("mail-", i)
		}
		c := start(t, memstore.New(nil), nil, newParticipants(all...))
		topic := strings.Repeat("a", 120)
		for _, to := range all {
			must(t, c.Subscribe(t.Context(), topic, txn.Target(to)))
		}
		_, err := msg.New("x").Topic(topic).Send(t.Context(), c, 1)
		must(t, err)
	})
}

// deaf is a store that makes the next writes and loses what it says of them, and that
// cannot be read after that unless it recovers.
type deaf struct {
	driver.Store
	lost     int // writes
	stays    bool
	unheard  bool
	attempts int
}

func (d *deaf) write(err error) error {
	d.attempts++
	if d.lost == 0 {
		return err
	}
	d.lost--
	d.unheard = d.stays
	return errAway
}

func (d *deaf) Create(ctx context.Context, rec *driver.Record) error {
	return d.write(d.Store.Create(ctx, rec))
}

func (d *deaf) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	return d.write(d.Store.Update(ctx, was, rec))
}

func (d *deaf) Load(ctx context.Context, id string) (*driver.Record, error) {
	if d.unheard {
		return nil, errAway
	}
	return d.Store.Load(ctx, id)
}

// TestASubscriptionIsToldToHaveFailedAlthoughMade: the store has written it down, and what
// it said of that was lost.
func TestASubscriptionIsToldToHaveFailedAlthoughMade(t *testing.T) {
	for name, stays := range map[string]bool{"once": false, "and nothing is heard again": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &deaf{Store: memstore.New(nil)}
				c := start(t, store, nil, newParticipants("mail", "print"))
				try := func(change func(context.Context, string, txn.Target) error, target txn.Target,
					want ...txn.Target,
				) {
					t.Helper()
					store.lost, store.stays = 1, stays
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
					defer cancel()
					err := change(ctx, "orders", target)
					if isInDoubt(err) != stays || stays != (err != nil) {
						t.Errorf("%s: told %v", target, err)
					}
					store.unheard = false
					if got, err := c.Subscribers(t.Context(), "orders"); err != nil || !slices.Equal(got, want) {
						t.Errorf("subscribers %v, want %v; %v", got, want, err)
					}
				}
				try(c.Subscribe, "mail", "mail")
				try(c.Subscribe, "print", "mail", "print")
				try(c.Unsubscribe, "mail", "print")
			})
		})
	}
}

// TestASubscriptionThatWasNeverSentIsInDoubt: the store was away before anything was
// written.
func TestASubscriptionThatWasNeverSentIsInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &deaf{Store: memstore.New(nil)}
		c := start(t, store, nil, newParticipants("mail"))
		store.unheard = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Subscribe(ctx, "orders", "mail"); err == nil || isInDoubt(err) {
			t.Errorf("told %v", err)
		}
	})
}

// TestARepeatedSubscriptionIsWrittenAgain although nothing changes.
func TestARepeatedSubscriptionIsWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &deaf{Store: memstore.New(nil)}
		c := start(t, store, nil, newParticipants("mail"))
		for range 3 {
			must(t, c.Subscribe(t.Context(), "orders", "mail"))
			must(t, c.Unsubscribe(t.Context(), "orders", "nobody"))
			must(t, c.Unsubscribe(t.Context(), "nothing", "mail"))
		}
		if store.attempts != 1 {
			t.Errorf("%d writes of one subscription", store.attempts)
		}
	})
}

// TestARefusedSubscriptionIsTriedForEver: the store says that it will never take it.
func TestARefusedSubscriptionIsTriedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &prim{Store: memstore.New(nil)}, nil, newParticipants("mail"))
		err := c.Subscribe(t.Context(), "orders", "mail")
		if _, ok := errors.AsType[*txn.InvalidError](err); !ok {
			t.Errorf("told %v", err)
		}
	})
}

// prim is a store that takes no new record.
type prim struct{ driver.Store }

func (prim) Create(context.Context, *driver.Record) error { return driver.ErrRefused }

// TestATopicCountsAsATransaction: it would be the oldest that is not final, for ever.
func TestATopicCountsAsATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		c := start(t, store, nil, newParticipants("mail", "print"))
		must(t, c.Subscribe(t.Context(), "orders", "mail"))
		must(t, c.Subscribe(t.Context(), "orders", "print"))
		n, err := store.Count(t.Context())
		must(t, err)
		if !n.Oldest.IsZero() || len(n.ByStatus) > 0 {
			t.Errorf("%+v", n)
		}
	})
}

// TestATopicOfOldIsLost: it was stored as an open transaction once.
func TestATopicOfOldIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		c := start(t, store, nil, newParticipants("mail", "print"))
		must(t, store.Create(t.Context(), &driver.Record{
			ID: "topic/orders", Mode: "topic", Name: "orders", Status: txn.Open, Epoch: 1, Spec: []byte(`["mail"]`),
			State: []byte("{}"),
		}))
		must(t, c.Subscribe(t.Context(), "orders", "print"))
		if got, err := c.Subscribers(t.Context(), "orders"); err != nil || len(got) != 2 {
			t.Errorf("subscribers %v, %v", got, err)
		}
		if n, err := store.Count(t.Context()); err != nil || len(n.ByStatus) > 0 {
			t.Errorf("%+v, %v", n, err)
		}
	})
}

// TestAnAssuredPartCannotReachItsTopic although its transaction is committed: each of a
// hundred subscribers gets a branch of its own, which has to fit beside the others.
func TestAnAssuredPartCannotReachItsTopic(t *testing.T) {
	for name, part := range map[string]txn.Branch{
		"name":    {ID: strings.Repeat("p", txn.MaxBranchID)},
		"payload": {ID: "p", Payload: []byte(`"` + strings.Repeat("x", 100<<10) + `"`)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := make([]string, 100)
				for i := range all {
					all[i] = fmt.Sprint("mail-", i)
				}
				parts := newParticipants(all...)
				c := start(t, memstore.New(nil), nil, parts)
				for _, to := range all {
					must(t, c.Subscribe(t.Context(), "orders", txn.Target(to)))
				}
				part.Confirm = "async:topic:orders"
				if res, err := c.Run(t.Context(),
					txn.Definition{Mode: "tcc", Branches: []txn.Branch{part}}); err != nil {
					t.Fatalf("%+v %v", res, err)
				}
				time.Sleep(time.Minute)
				if n := parts.count(); n != len(all) {
					t.Errorf("%d of %d were called", n, len(all))
				}
				for _, call := range parts.calls {
					if string(call.Payload) != string(part.Payload) {
						t.Fatalf("%s got %d bytes", call.Branch, len(call.Payload))
					}
				}
			})
		})
	}
}

// TestATopicHasMoreSubscribersThanAMessageCanHave although each of them was accepted.
func TestATopicHasMoreSubscribersThanAMessageCanHave(t *testing.T) {
	for _, long := range []int{1, 2000} {
		synctest.Test(t, func(t *testing.T) {
			c := start(t, memstore.New(nil), &coord.Options{
				Callers: []txn.Caller{&picky{}}, Limits: check.Limits{Branches: 100},
			}, nil)
			var err error
			for i := 0; err == nil && i < txn.MaxSubscribers; i++ {
				err = c.Subscribe(t.Context(), "orders",
					txn.Target(fmt.Sprintf("http://mail/%04d/%s", i, strings.Repeat("x", long))))
			}
			if field, ok := errors.AsType[*txn.InvalidError](err); err != nil && (!ok || field.Field != "topic") {
				t.Fatal(err)
			}
			_, err = msg.New("x").Topic("orders").Send(t.Context(), c, 1)
			must(t, err)
		})
	}
}

// TestATopicGoesRoundInACircle: what an assured part of it sends would come back to it.
func TestATopicGoesRoundInACircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, nil)
		for _, to := range []txn.Target{"topic:orders", "async:topic:orders"} {
			err := c.Subscribe(t.Context(), "orders", to)
			if field, ok := errors.AsType[*txn.InvalidError](err); !ok || field.Field != "subscriber" {
				t.Errorf("%s: %v", to, err)
			}
		}
	})
}

// stumbling is a store that cannot be read once, when somebody looks for a topic.
type stumbling struct {
	driver.Store
	again bool
}

func (s *stumbling) Load(ctx context.Context, id string) (*driver.Record, error) {
	if s.again && strings.HasPrefix(id, "topic/") {
		s.again = false
		return nil, errAway
	}
	return s.Store.Load(ctx, id)
}

// TestAStoreThatStumblesUsesUpAttemptsOfAnAssuredTopic: that its subscribers could not be read
// is nobody's failure.
func TestAStoreThatStumblesUsesUpAttemptsOfAnAssuredTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &stumbling{Store: memstore.New(nil)}
		parts := newParticipants("mail")
		c := start(t, store, nil, parts)
		must(t, c.Subscribe(t.Context(), "orders", "mail"))
		store.again = true
		_, err := c.Run(t.Context(), txn.Definition{Mode: "tcc", Branches: []txn.Branch{
			{ID: "mail", Confirm: "async:topic:orders", Policy: &txn.Policy{Attempts: 1}},
		}})
		must(t, err)
		time.Sleep(time.Minute)
		store.again = true
		_, err = msg.New("x").Topic("orders").Send(t.Context(), c, 1)
		must(t, err)
		time.Sleep(time.Minute)
		if n := parts.count(); n != 2 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestABranchBehindATopicIsMiscounted: the field that is wrong is told by its place among the
// topic's subscribers, and not by that in the definition that was given.
func TestABranchBehindATopicIsMiscounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("one", "two", "three", "mail"))
		for _, to := range []txn.Target{"one", "two", "three"} {
			must(t, c.Subscribe(t.Context(), "orders", to))
		}
		hook := &txn.Policy{Attempts: 1, Then: txn.Hook, Hook: "nobody://has.this"}
		for want, of := range map[string]struct {
			policy *txn.Policy
			second txn.Branch
		}{
			"branches[1].confirm":     {nil, txn.Branch{ID: "mail", Confirm: "not a target"}},
			"branches[0].policy.hook": {hook, txn.Branch{ID: "mail", Confirm: "mail"}},
			"branches[1].policy.attempts": {
				nil, txn.Branch{ID: "mail", Confirm: "mail", Policy: &txn.Policy{Attempts: -1}},
			},
			"branches[1].undo": {nil, txn.Branch{ID: "mail", Confirm: "mail", Undo: "mail"}},
		} {
			all := txn.Branch{ID: "all", Confirm: txn.Topic("orders"), Policy: of.policy}
			_, err := c.Submit(t.Context(), txn.Definition{Mode: "msg", Branches: []txn.Branch{all, of.second}})
			if wrong, ok := errors.AsType[*txn.InvalidError](err); !ok || wrong.Field != want ||
				len(input.All(err)) != 1 {
				t.Errorf("%v; want it to name %s, of two branches", err, want)
			}
		}
	})
}
