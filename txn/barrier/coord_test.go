package barrier_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// attempts is after how many failures a saga gives a step up, and goes back.
const attempts = 3

// storm is a network that loses questions and answers, and delivers some calls
// again, at once or after everything is over.
type storm struct {
	twins sync.WaitGroup // calls delivered twice at once

	mu   sync.Mutex
	late []func(ctx context.Context)
}

func (s *storm) around(f txn.Func) txn.Func {
	return func(ctx context.Context, call txn.Call) ([]byte, error) {
		again := func(ctx context.Context) { _, _ = f(ctx, call) }
		fate := rand.N(4)
		if _, back := barrier.Origin(call.Op); back && call.Attempt == attempts {
			fate = 3 // or it would be parked
		}
		switch fate {
		case 0:
			s.later(again)
			return nil, errors.New("question lost, and still under way")
		case 1:
			_, _ = f(ctx, call)
			return nil, errors.New("answer lost")
		case 2:
			s.twins.Go(func() { again(context.WithoutCancel(ctx)) })
			s.later(again)
		}
		return f(ctx, call)
	}
}

func (s *storm) later(again func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, again)
}

// TestInAStorm: transfers between two accounts, some of which are refused, over a
// network that loses and repeats. No money appears or disappears, and the balances
// are what the outcomes say, also after the last late call has come.
func TestInAStorm(t *testing.T) {
	t.Parallel()
	e := open(t, "sqlite", sqliteDSN(t.TempDir()+"/x.db"), barrier.SQLite, barrier.Native)
	from, to := e.account(t), e.account(t)
	work := func(a account, amount int) txn.Func {
		return e.b.Func(func(ctx context.Context, tx *sql.Tx, _ txn.Call) ([]byte, error) {
			return a.add(amount, "ok")(ctx, tx)
		})
	}
	// Whether it refuses is a matter of the moment, as with a balance.
	moody := e.b.Func(func(ctx context.Context, tx *sql.Tx, _ txn.Call) ([]byte, error) {
		if _, err := to.add(1, "")(ctx, tx); err != nil {
			return nil, err
		}
		if rand.N(3) == 0 {
			return nil, txn.Abort(errors.New("not now"))
		}
		return []byte("ok"), nil
	})
	s := &storm{}
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]txn.Func{
		"out": work(from, -1), "back": work(from, 1), "in": moody, "return": work(to, -1),
	} {
		if err := co.Register(name, s.around(f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := co.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer co.Stop(context.WithoutCancel(t.Context()))
	committed := transfers(t, co, 200)
	s.twins.Wait()
	for _, again := range s.late {
		again(t.Context())
	}
	from.want(t, -committed)
	to.want(t, committed)
	t.Logf("%d of 200 were committed, %d calls came late", committed, len(s.late))
}

// transfers runs sagas, several at once, and tells how many were committed.
func transfers(t *testing.T, co *coord.Coordinator, n int) (committed int) {
	t.Helper()
	policy := txn.Policy{Attempts: attempts, Backoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond}
	move := saga.New("move").Step("out", "out", "back").Policy(policy).Step("in", "in", "return").Policy(policy)
	outcomes := make(chan error, n)
	var numbers atomic.Int64
	for range 16 {
		go func() {
			for i := numbers.Add(1); i <= int64(n); i = numbers.Add(1) {
				outcomes <- settled(t, co, move.ID(fmt.Sprintf("move-%d", i)))
			}
		}()
	}
	for range n {
		err := <-outcomes
		var back *txn.RolledBackError
		switch {
		case err == nil:
			committed++
		case !errors.As(err, &back):
			t.Error(err)
		}
	}
	return committed
}

// settled runs a saga to its end. On a busy machine one may be parked, because its
// calls took too long; then somebody resumes it.
func settled(t *testing.T, co *coord.Coordinator, move *saga.Saga) error {
	t.Helper()
	_, err := move.Run(t.Context(), co, nil)
	var parked *txn.ParkedError
	for errors.As(err, &parked) {
		if err := co.Act(t.Context(), parked.ID, txn.ActResume, "the machine was busy"); err != nil {
			return err
		}
		_, err = co.Wait(t.Context(), parked.ID)
	}
	return err
}
