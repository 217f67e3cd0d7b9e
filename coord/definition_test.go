package coord_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestATopicWithoutSubscribersIsRefused even if the message has other receivers.
func TestATopicWithoutSubscribersIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("receive"))
		_, err := c.Submit(t.Context(), txn.Definition{Mode: "msg", Branches: []txn.Branch{
			{ID: "one", Confirm: "receive"}, {ID: "all", Confirm: "topic:orders"},
		}})
		field, ok := errors.AsType[*txn.InvalidError](err)
		if !ok || field.Field != "branches[1].confirm" ||
			!strings.Contains(field.Problem, `"orders" has no subscribers`) {
			t.Errorf("got %v", err)
		}
	})
}

// TestAMissingResultStopsTheSaga: a step is not called with half of what it needs.
func TestAMissingResultStopsTheSaga(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		c := start(t, memstore.New(nil), nil, parts)
		d := transfer()
		d.Branches[1].Use = map[string]string{"receipt": "take.receipt"}
		res, err := c.Run(t.Context(), d)
		if res.Outcome != txn.RolledBack || !strings.Contains(res.Reason, `result of take has no field "receipt"`) {
			t.Errorf("%+v %v", res, err)
		}
		if made := strings.Join(parts.made(), ", "); made != "take action, take compensate" {
			t.Errorf("made %s", made)
		}
	})
}

// TestAResultThatWasTooLargeToTakeOverIsSaidToBe: the branch has returned something, and
// whoever reads that it has not looks for the mistake in the wrong place.
func TestAResultThatWasTooLargeToTakeOverIsSaidToBe(t *testing.T) {
	for limit, opts := range map[string]*coord.Options{
		"at most 8": {Result: 8},
		"those of all branches together have at most 8": {Results: 8},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := start(t, memstore.New(nil), opts, transferParts())
			d := transfer()
			d.Branches[1].Use = map[string]string{"ref": "take.ref"}
			res, err := c.Run(t.Context(), d)
			if res.Outcome != txn.RolledBack || !strings.Contains(res.Reason, "branch take: result of ") ||
				!strings.HasSuffix(res.Reason, limit) {
				t.Errorf("%+v %v", res, err)
			}
		})
	}
}

func TestEveryAssuredBranchIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("points", "mail")
		c := start(t, memstore.New(nil), nil, parts)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if res, err := c.Run(ctx, txn.Definition{Mode: "tcc", Branches: []txn.Branch{
			{ID: "points", Confirm: "async:points"}, {ID: "mail", Confirm: "async:mail"},
		}}); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		time.Sleep(time.Second)
		if n := parts.count(); n != 2 {
			t.Errorf("delivered to %v", parts.made())
		}
	})
}

func TestWhatIsNotArchivedStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var room atomic.Bool
		c := start(t, memstore.New(nil), &coord.Options{Retention: coord.Retention{
			Keep: time.Minute,
			Archive: func(context.Context, []*txn.Transaction) error {
				if room.Load() {
					return nil
				}
				return errors.New("archive is full")
			},
		}}, transferParts())
		res, err := c.Run(t.Context(), transfer())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		get(t, c, res.ID)
		room.Store(true)
		time.Sleep(time.Minute)
		if _, err := c.Get(t.Context(), res.ID); !errors.Is(err, txn.ErrNotFound) {
			t.Errorf("archived, and still there: %v", err)
		}
	})
}

// TestADelayBeginsWithTheDecision, not when the message was prepared.
func TestADelayBeginsWithTheDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("receive"))
		id, err := c.Begin(t.Context(),
			txn.Definition{Mode: "msg", Timeout: time.Hour, Delay: time.Minute, Branches: []txn.Branch{
				{ID: "one", Confirm: "receive"},
			}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		began := time.Now()
		if err := c.Commit(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if res, err := c.Wait(t.Context(), id); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		if took := time.Since(began); took < time.Minute || took > 62*time.Second {
			t.Errorf("delivered after %v", took)
		}
	})
}

// TestOneResultIsTakenOverWithoutEnd: a result of some kilobytes that a step takes over
// thousands of times would make a call of hundreds of megabytes.
func TestOneResultIsTakenOverWithoutEnd(t *testing.T) {
	for name, from := range map[string]string{"another's": "take", "its own": "give"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				longest := 0
				c := start(t, memstore.New(nil), nil, nil)
				for _, f := range []string{"take", "give", "give-back", "take-back"} {
					must(t, c.Register(f, func(_ context.Context, call txn.Call) ([]byte, error) {
						longest = max(longest, len(call.Payload))
						return []byte(`"` + strings.Repeat("x", 60<<10) + `"`), nil
					}))
				}
				must(t,
					c.Register("refuse", func(context.Context, txn.Call) ([]byte, error) { return nil, errNoMoney }))
				d := transfer()
				d.Branches = append(d.Branches, txn.Branch{ID: "end", After: []string{"give"}, Do: "refuse"})
				d.Branches[1].Use = make(map[string]string)
				for i := range 500 {
					d.Branches[1].Use[fmt.Sprint("field", i)] = from
				}
				res, err := c.Run(t.Context(), d)
				if res.Outcome != txn.RolledBack || from == "take" && !strings.Contains(res.Reason, "at most 1048576") {
					t.Errorf("%+v %v", res, err)
				}
				if longest > 1<<20+10_000 {
					t.Errorf("a payload of %d bytes", longest)
				}
			})
		})
	}
}

// TestOneResultIsReadAgainForEachField: a call that takes over ten thousand small fields of
// one large result took seconds to be made, each time, while no lease was renewed. The
// memory it takes tells, on machines of any speed.
func TestOneResultIsReadAgainForEachField(t *testing.T) {
	parts := newParticipants("give-back", "give", "take-back")
	c := start(t, memstore.New(nil), nil, parts)
	must(t, c.Register("take", func(context.Context, txn.Call) ([]byte, error) {
		return []byte(`{"pad":"` + strings.Repeat("x", 60<<10) + `","card":{"id":7}}`), nil
	}))
	d := transfer()
	d.Branches[1].Use = make(map[string]string)
	for i := range 9_990 {
		d.Branches[1].Use[fmt.Sprint("field", i)] = "take.card.id"
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := c.Run(t.Context(), d)
	runtime.ReadMemStats(&after)
	if made := (after.TotalAlloc - before.TotalAlloc) >> 20; err != nil || made > 100 {
		t.Errorf("%v for %d MiB of memory, %v", res.Outcome, made, err)
	}
	if call := parts.calls[0]; !strings.Contains(string(call.Payload), `"field9989":7`) {
		t.Errorf("%.100s", call.Payload)
	}
}

// strict is a store that takes no text with a zero byte, nor one that is none, not even in
// a question, as PostgreSQL does.
type strict struct{ driver.Store }

func (s strict) Load(ctx context.Context, id string) (*driver.Record, error) {
	if id != strings.ToValidUTF8(strings.ReplaceAll(id, "\x00", ""), "") {
		return nil, errors.New("invalid byte sequence")
	}
	return s.Store.Load(ctx, id)
}

// TestABadIDIsTakenForTroubleOfTheStore: what it says then is about nothing but this
// question, which would be asked again and again.
func TestABadIDIsTakenForTroubleOfTheStore(t *testing.T) {
	for _, id := range []string{"", "a\x00b", "\xff", "topic/orders", strings.Repeat("x", 129)} {
		synctest.Test(t, func(t *testing.T) {
			c := start(t, strict{memstore.New(nil)}, nil, newParticipants("mail"))
			must(t, c.Subscribe(t.Context(), "orders", "mail"))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := c.Wait(ctx, id)
			if field, ok := errors.AsType[*txn.InvalidError](err); !ok || field.Field != "id" || c.Trouble() != nil {
				t.Errorf("%q: %v; the store: %v", id, err, c.Trouble())
			}
		})
	}
}

// TestWhatNothingIsCalledIsSearchedFor: whoever asks for it is told what is wrong.
func TestWhatNothingIsCalledIsSearchedFor(t *testing.T) {
	c := start(t, memstore.New(nil), nil, nil)
	for _, text := range []string{"a\x00b", "\xff", strings.Repeat("x", 129)} {
		for want, q := range map[string]txn.Query{
			"name": {Name: text}, "prefix": {Prefix: text}, "before": {Before: driver.Cursor{ID: text}},
		} {
			_, err := c.List(t.Context(), q)
			if field, ok := errors.AsType[*txn.InvalidError](err); !ok || field.Field != want {
				t.Errorf("%s %q: %v", want, text, err)
			}
		}
	}
}

// TestAStatusThatThereIsNoneOfIsSearchedFor: an empty page would say that nothing has it.
func TestAStatusThatThereIsNoneOfIsSearchedFor(t *testing.T) {
	c := start(t, memstore.New(nil), nil, nil)
	_, err := c.List(t.Context(), txn.Query{Status: []txn.Status{txn.Open, "rolledback"}})
	field, ok := errors.AsType[*txn.InvalidError](err)
	if !ok || field.Field != "status[1]" || !strings.Contains(field.Problem, "did you mean rolled-back?") {
		t.Error(err)
	}
}

// TestNobodyAnswersAQuestion: who is asked through a message has said nothing when that is
// sent, which would count as a yes.
func TestNobodyAnswersAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("check", "hook", "receive", "fail")
		parts.answer("check", errNoMoney)
		parts.answer("hook", errNoMoney)
		parts.answer("fail", errBroken)
		c := start(t, memstore.New(nil), nil, parts)
		_, err := c.Begin(t.Context(), txn.Definition{
			Mode: "msg", Branches: []txn.Branch{{ID: "a", Confirm: "receive"}},
			Check: &txn.Check{Target: "async:check", After: time.Second},
		})
		if field, ok := errors.AsType[*txn.InvalidError](err); !ok || field.Field != "check.target" {
			t.Errorf("check: %v", err)
		}
		_, err = c.Submit(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "a", Do: "fail", Policy: &txn.Policy{Attempts: 1, Then: txn.Hook, Hook: "async:hook"}},
		}})
		if field, ok := errors.AsType[*txn.InvalidError](err); !ok || field.Field != "branches[0].policy.hook" {
			t.Errorf("hook: %v", err)
		}
		time.Sleep(time.Minute)
		if made := parts.made(); len(made) > 0 {
			t.Errorf("made %v", made)
		}
	})
}

// TestWhatIsSentIsUndoneBeforeItArrives: a step that goes by a message of its own is done when
// that is durable, so its undo may come first, and nothing takes back what comes then.
func TestWhatIsSentIsUndoneBeforeItArrives(t *testing.T) {
	for name, d := range map[string]txn.Definition{
		"branches[0].undo": {
			Mode: "saga", Branches: []txn.Branch{{ID: "take", Do: "async:take", Undo: "give-back"}},
		},
		"branches[0].do": {Mode: "tcc", Branches: []txn.Branch{{ID: "take", Do: "async:take"}}},
		"branches[0].confirm": {
			Mode: "tcc", Branches: []txn.Branch{{ID: "take", Do: "async:take", Confirm: "give-back"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := transferParts()
				parts.answer("take", errBroken, errBroken, nil)
				parts.answer("give", errNoMoney)
				c := start(t, memstore.New(nil), nil, parts)
				d.Branches = append(d.Branches, txn.Branch{ID: "give", After: []string{"take"}, Do: "give"})
				_, err := c.Run(t.Context(), d)
				if field, ok := errors.AsType[*txn.InvalidError](err); !ok || field.Field != name {
					t.Errorf("told %v", err)
				}
				time.Sleep(time.Minute)
				if made := parts.made(); len(made) > 0 {
					t.Errorf("made %v", made)
				}
			})
		})
	}
}

// spans gives every call a header of its own.
type spans struct{ calls atomic.Int64 }

func (*spans) Submit(context.Context, *txn.Definition) map[string]string { return nil }

func (s *spans) Call(_ context.Context, call *txn.Call, _ txn.Target) (map[string]string, func(txn.Answer)) {
	headers := map[string]string{"span": fmt.Sprint(s.calls.Add(1))}
	maps.Copy(headers, call.Headers)
	return headers, func(txn.Answer) {}
}

// TestAnAssuredPartIsCalledWithoutHeaders although they travel with every call; but what an
// attempt adds to them does not: a repeated attempt would be another message.
func TestAnAssuredPartIsCalledWithoutHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("mail")
		c := start(t, memstore.New(nil), &coord.Options{Tracing: &spans{}}, parts)
		_, err := c.Run(t.Context(), txn.Definition{
			Mode: "tcc", Headers: map[string]string{"tenant": "7"},
			Branches: []txn.Branch{{ID: "mail", Confirm: "async:mail"}},
		})
		must(t, err)
		time.Sleep(time.Minute)
		if n := parts.count(); n != 1 || parts.calls[0].Headers["tenant"] != "7" {
			t.Errorf("%+v", parts.calls)
		}
		if kept := get(t, c, parts.calls[0].Transaction).Headers; len(kept) != 1 {
			t.Errorf("the message keeps %v", kept)
		}
	})
}

// TestAnAssuredPartOfAnEarlierLifeIsTakenForThisOnes: the message of the first transaction
// took long to be delivered, so it is there for longer; the ID was free, and is used again.
func TestAnAssuredPartOfAnEarlierLifeIsTakenForThisOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("mail")
		parts.answer("mail", errBroken)
		c := start(t, memstore.New(nil), &coord.Options{Retention: coord.Retention{Keep: time.Hour}}, parts)
		d := txn.Definition{ID: "order-1", Mode: "tcc", Branches: []txn.Branch{{ID: "mail", Confirm: "async:mail"}}}
		_, err := c.Run(t.Context(), d)
		must(t, err)
		time.Sleep(2 * time.Hour)
		if _, err := c.Get(t.Context(), d.ID); !errors.Is(err, txn.ErrNotFound) {
			t.Fatal(err)
		}
		parts.answer("mail")
		time.Sleep(10 * time.Minute)
		first := parts.count()
		_, err = c.Run(t.Context(), d)
		must(t, err)
		time.Sleep(time.Minute)
		if n := parts.count(); n != first+1 {
			t.Errorf("%d mails for the second transaction", n-first)
		}
	})
}
