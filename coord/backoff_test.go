package coord_test

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// claims counts claims by target, which take their time as with a database.
type claims struct {
	driver.Store
	takes    time.Duration
	byTarget atomic.Int64
}

func (s *claims) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	if c.Target != "" {
		s.byTarget.Add(1)
		time.Sleep(s.takes)
	}
	return s.Store.Claim(ctx, c)
}

// poisoned is a participant that fails for some transactions and succeeds for all
// others.
func poisoned(calls *atomic.Int32) txn.Func {
	return func(_ context.Context, call txn.Call) ([]byte, error) {
		if !bytes.Equal(call.Payload, []byte("poison")) {
			return nil, nil
		}
		calls.Add(1)
		time.Sleep(5 * time.Millisecond)
		return nil, errBroken
	}
}

// single is a saga of one step.
func single(payload string, p *txn.Policy) txn.Definition {
	return txn.Definition{
		Mode: "saga", Payload: []byte(payload), Branches: []txn.Branch{{ID: "a", Do: "step", Undo: "undo", Policy: p}},
	}
}

func submit(t *testing.T, c *coord.Coordinator, d txn.Definition) (id string) {
	t.Helper()
	id, err := c.Submit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestAttemptsLastAsLongAsTheirPauses: some transactions fail for reasons of their own,
// and others succeed at the same target all the time.
func TestAttemptsLastAsLongAsTheirPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("undo"))
		var calls atomic.Int32
		register(t, c, "step", poisoned(&calls))
		const n = 20
		began := time.Now()
		var ids []string
		for range n {
			ids = append(ids, submit(t, c, single("poison", &txn.Policy{Attempts: 10})))
		}
		for range 300 {
			submit(t, c, single("", nil))
			time.Sleep(1500 * time.Millisecond)
		}
		for _, id := range ids {
			tx := get(t, c, id)
			// The pauses are 0.5, 1, 2, 4, 8, 16, 32, 60 and 60 s, less a quarter at most.
			if took := tx.Finished.Sub(began); tx.Status != txn.RolledBack || took < 137*time.Second {
				t.Errorf("%s after %v", tx.Status, took)
			}
		}
		// Each of the 9 pauses may have been cut short by one early call.
		if calls.Load() > n*(10+9) {
			t.Errorf("%d calls for %d transactions with 10 attempts", calls.Load(), n)
		}
	})
}

// TestARecoveryIsOneEarlyTry: what fails again when its target has recovered keeps its
// pause, however long it takes to fetch it.
func TestARecoveryIsOneEarlyTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &claims{Store: memstore.New(nil), takes: 8 * time.Millisecond}, nil, newParticipants("undo"))
		var calls atomic.Int32
		register(t, c, "step", poisoned(&calls))
		const n = 300
		for range n {
			submit(t, c, single("poison", nil))
		}
		time.Sleep(10 * time.Minute) // their pauses are a minute by now
		before := calls.Load()
		submit(t, c, single("", nil))
		time.Sleep(2 * time.Second)
		if made := calls.Load() - before; made < n/2 || made > n+n/10 {
			t.Errorf("one success was followed by %d calls in 2 s for %d transactions with pauses of a minute", made, n)
		}
	})
}

// TestAProbeUsesNoAttempt before its time: a single transaction waits for a target that
// is down, so it is the one that tries it every second.
func TestAProbeUsesNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("undo"))
		register(t, c, "step", hang)
		began := time.Now()
		id := submit(t, c, single("", &txn.Policy{Attempts: 10, Timeout: 10 * time.Millisecond}))
		_, _ = c.Wait(t.Context(), id)
		if took := time.Since(began); took < 137*time.Second {
			t.Errorf("attempts were used up after %v", took)
		}
	})
}

// TestAnAssuredBranchIsNotHeldBack: it only writes a message, which says nothing about
// the target of that.
func TestAnAssuredBranchIsNotHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := &counter{}
		c := start(t, memstore.New(nil), &coord.Options{Observer: events}, newParticipants("try", "cancel", "confirm"))
		register(t, c, "mail", hang)
		for range 10 {
			submit(t, c, txn.Definition{Mode: "msg", Branches: []txn.Branch{
				{ID: "m", Confirm: "mail", Policy: &txn.Policy{Timeout: 100 * time.Millisecond}},
			}})
		}
		time.Sleep(5 * time.Second)
		if n := events.count(coord.EventBreakerOpened); n != 1 {
			t.Fatalf("taken for down %d times", n)
		}
		began := time.Now()
		if res, err := c.Run(t.Context(), txn.Definition{Mode: "tcc", Branches: []txn.Branch{
			{ID: "a", Do: "try", Confirm: "confirm", Undo: "cancel"}, {ID: "b", Confirm: "async:mail"},
		}}); err != nil {
			t.Errorf("%+v %v", res, err)
		}
		if took := time.Since(began); took > 250*time.Millisecond {
			t.Errorf("held back for %v", took)
		}
		time.Sleep(time.Second)
		if n := events.count(coord.EventBreakerClosed); n != 0 {
			t.Errorf("the target is down, and was taken for up %d times", n)
		}
	})
}

// dead is a host that is gone.
type dead struct{}

func (dead) Check(txn.Target) error { return nil }
func (dead) Schemes() []string      { return []string{"http"} }

func (dead) Call(context.Context, txn.Target, txn.Call) txn.Answer {
	return txn.Answer{Kind: txn.AnswerUnreached, Down: true, Note: "connection refused"}
}

// TestAProbeThatDoesNotComeBack: a function that hangs whatever its context says, or
// that ends its goroutine, does not shut its target out.
func TestAProbeThatDoesNotComeBack(t *testing.T) {
	release := func(forever <-chan struct{}) { <-forever }
	endings := map[string]func(forever <-chan struct{}){
		"hangs": release, "ends": func(<-chan struct{}) { runtime.Goexit() },
	}
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, memstore.New(nil), nil, nil)
				forever := make(chan struct{})
				defer close(forever)
				var calls atomic.Int32
				register(t, c, "mail", func(ctx context.Context, call txn.Call) ([]byte, error) {
					switch n := calls.Add(1); {
					case n <= 5:
						return hang(ctx, call)
					case n == 6:
						end(forever)
					}
					return nil, nil
				})
				var ids []string
				for range 5 {
					ids = append(ids, submit(t, c, txn.Definition{Mode: "msg", Branches: []txn.Branch{
						{ID: "m", Confirm: "mail", Policy: &txn.Policy{Timeout: 100 * time.Millisecond}},
					}}))
				}
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				for _, id := range ids {
					if res, err := c.Wait(ctx, id); err != nil {
						t.Errorf("%+v %v", res, err)
					}
				}
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("all called after %v", took)
				}
			})
		})
	}
}

// scripted answers calls in the order in which they come; nil hangs for as long as it
// may. What comes after is done.
type scripted struct {
	answers []*txn.Answer
	calls   atomic.Int32
}

func (*scripted) Check(txn.Target) error { return nil }
func (*scripted) Schemes() []string      { return []string{"http"} }

func (s *scripted) Call(ctx context.Context, _ txn.Target, _ txn.Call) txn.Answer {
	n := int(s.calls.Add(1)) - 1
	switch {
	case n >= len(s.answers):
		return txn.Answer{Kind: txn.AnswerDone}
	case s.answers[n] != nil:
		return *s.answers[n]
	}
	<-ctx.Done()
	return txn.Answer{Kind: txn.AnswerFailed, Down: true}
}

// TestAProbeThatMayTakeAnHour does not keep its target shut for so long, nor are slots
// wanting that calls hold from before: they, too, may take an hour.
func TestAProbeThatMayTakeAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := &txn.Answer{Kind: txn.AnswerUnreached, Down: true}
		target := &scripted{answers: []*txn.Answer{nil, gone, gone, gone, gone, gone, nil}}
		c := start(t, memstore.New(nil), &coord.Options{
			PerTarget: 2, Callers: []txn.Caller{target},
		}, newParticipants("undo"))
		d := txn.Definition{Mode: "saga", Branches: []txn.Branch{{
			ID: "a", Do: "http://target/", Undo: "undo", Policy: &txn.Policy{Timeout: time.Hour},
		}}}
		for range 7 {
			submit(t, c, d)
			synctest.Wait()
		}
		time.Sleep(2 * time.Second) // one hangs from before, and one as the probe
		began := time.Now()
		if res, err := c.Run(t.Context(), d); err != nil || time.Since(began) > 40*time.Second {
			t.Errorf("%+v %v after %v", res, err, time.Since(began))
		}
	})
}

// TestAnAnswerThatDoesNotChange is told at once, and not asked for for ever: the
// transaction is left to a person, and not rolled back. A limit of attempts counts.
func TestAnAnswerThatDoesNotChange(t *testing.T) {
	lasting := txn.Answer{Kind: txn.AnswerFailed, Note: "404 Not Found", Lasting: true}
	many := make([]*txn.Answer, 100)
	for i := range many {
		many[i] = &lasting
	}
	for name, d := range map[string]txn.Definition{
		"404":              {Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "http://x/", Undo: "undo"}}},
		"refused delivery": {Mode: "msg", Branches: []txn.Branch{{ID: "a", Confirm: "refuse"}}},
		"malformed":        {Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "read", Undo: "undo"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &lines{}
				parts := newParticipants("undo", "refuse", "read")
				parts.answer("refuse", errNoMoney)
				parts.answer("read", txn.ErrMalformed)
				c := start(t, memstore.New(nil), &coord.Options{
					Callers: []txn.Caller{&scripted{answers: many}},
					Logger:  slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
				}, parts)
				id := submit(t, c, d)
				time.Sleep(10 * time.Millisecond)
				if told := log.all(); len(told) != 1 || !strings.Contains(told[0], "does not change") {
					t.Errorf("told: %q", told)
				}
				time.Sleep(5 * time.Minute)
				if tx := get(t, c, id); noted(tx) != plan.LastingAttempts || !strings.Contains(tx.Parked, "8 times") {
					t.Errorf("parked %q after %d attempts", tx.Parked, noted(tx))
				}
				if err := c.Act(t.Context(), id, txn.ActResume, "try again"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Minute)
				if tx := get(t, c, id); noted(tx) != 2*plan.LastingAttempts+1 {
					t.Errorf("resumed, and parked %q after %d attempts", tx.Parked, noted(tx))
				}
			})
		})
	}
}

// TestALastingAnswerIsToldAgain while its target is down, and nobody is asked.
func TestALastingAnswerIsToldAgain(t *testing.T) {
	answers := []*txn.Answer{{Kind: txn.AnswerFailed, Note: "404 Not Found", Lasting: true}}
	for range 20 {
		answers = append(answers, &txn.Answer{Kind: txn.AnswerHeld, After: time.Second, Note: "somebody else's"})
	}
	synctest.Test(t, func(t *testing.T) {
		log := &lines{}
		c := start(t, memstore.New(nil), &coord.Options{
			Callers: []txn.Caller{&scripted{answers: answers}},
			Logger:  slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		}, newParticipants("undo"))
		submit(t, c, txn.Definition{Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "http://x/", Undo: "undo"}}})
		time.Sleep(15 * time.Second)
		if told := log.all(); len(told) != 1 {
			t.Errorf("told %d times: %q", len(told), told)
		}
	})
}

// TestAStopCutsAPauseShort: an early call is broken off because its coordinator stops, or dies
// after it has renewed its lease. Its pause goes on at the next, where a failure would use up an
// attempt otherwise.
func TestAStopCutsAPauseShort(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, c *coord.Coordinator, dying *bedrocktest.Store) error{
		"stopped": func(ctx context.Context, c *coord.Coordinator, _ *bedrocktest.Store) error { return c.Stop(ctx) },
		"dies": func(_ context.Context, _ *coord.Coordinator, dying *bedrocktest.Store) error {
			time.Sleep(4 * time.Second)
			die(dying)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) { pauseGoesOn(t, end) })
	}
}

func pauseGoesOn(t *testing.T, end func(ctx context.Context, c *coord.Coordinator, dying *bedrocktest.Store) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		dying := bedrocktest.NewStore(store)
		var well, early atomic.Bool
		step := func(ctx context.Context, call txn.Call) ([]byte, error) {
			switch {
			case !well.Load():
				return nil, errBroken
			case string(call.Payload) == `"good"`:
				return nil, nil
			}
			early.Store(true)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		c, err := coord.New(dying, nil)
		must(t, err)
		register(t, c, "step", step)
		register(t, c, "undo", step)
		must(t, c.Start(t.Context()))
		t.Cleanup(func() { must(t, c.Stop(context.Background())) })
		policy := &txn.Policy{Attempts: 2, Backoff: time.Hour, MaxBackoff: time.Hour}
		id := submit(t, c, single(`"bad"`, policy))
		for range 5 {
			time.Sleep(time.Second)
			submit(t, c, single(`"worse"`, policy))
		}
		time.Sleep(time.Second)
		well.Store(true)
		submit(t, c, single(`"good"`, nil))
		time.Sleep(time.Second)
		if !early.Load() {
			t.Fatal("there was no early call")
		}
		must(t, end(t.Context(), c, dying))
		parts := newParticipants("step", "undo")
		parts.answer("step", errBroken)
		other := start(t, store, nil, parts)
		time.Sleep(time.Minute)
		if tx := get(t, other, id); tx.Status != txn.Running || tx.Progress[0].Do.Tries != 1 {
			t.Errorf("a minute later it is %s, %+v", tx.Status, tx.Progress[0].Do)
		}
	})
}

// noted counts the calls and interventions that a transaction tells of.
func noted(tx *txn.Transaction) (n int) {
	for i := range tx.Attempts {
		n += tx.Attempts[i].Times()
	}
	return n
}
