package txns

import (
	"context"
	"database/sql"
	"errors"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// openBarrier puts the real barrier before all participants, over a database in memory.
func (w *world) openBarrier() {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1) // another one would have a memory of its own
	b, err := barrier.New(db, barrier.SQLite, nil)
	if err != nil {
		panic(err)
	}
	if err := b.Migrate(background()); err != nil {
		panic(err)
	}
	w.barrier, w.database = b, db
}

func (w *world) closeBarrier() {
	if w.database == nil {
		return
	}
	if err := w.database.Close(); err != nil {
		panic(err)
	}
}

var errNotToday = errors.New("not today")

// doCall does what a call asks for, unless it was done before, or refuses it.
func (w *world) doCall(ctx context.Context, call *txn.Call, refuse bool) error {
	l := w.judge.ledger
	switch {
	case w.barrier != nil && call.Op != "check":
		return w.doBarred(ctx, call, refuse)
	case refuse && !l.wasDone(call):
		return txn.Abort(errNotToday)
	default:
		return l.doOnce(call)
	}
}

func (w *world) doBarred(ctx context.Context, call *txn.Call, refuse bool) error {
	_, v, err := w.barrier.Do(ctx, *call, func(context.Context, *sql.Tx) ([]byte, error) {
		if refuse {
			return nil, txn.Abort(errNotToday)
		}
		return []byte(`"done"`), nil
	})
	if err == nil {
		w.judge.ledger.did(call, v == barrier.Ran)
	}
	return err
}

// echo delivers a call once more, long after it was made.
func (w *world) echo(call txn.Call, after time.Duration) {
	w.echoes.Go(func() {
		time.Sleep(after)
		err := w.doCall(background(), &call, false)
		w.report.Trace("a copy of %s/%s %s arrives: %v", call.Transaction, call.Branch, call.Op, err)
		if err == nil && w.judge.ledger.takenBack(&call) {
			w.report.Break(ruleTaken, "%s/%s %s: done, was the answer to a late copy",
				call.Transaction, call.Branch, call.Op)
		}
	})
}

// did notes that a call was answered as done, and whether it was done by this one.
func (l *ledger) did(call *txn.Call, now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := part{call.Transaction, call.Branch}
	l.seen[mark{p, call.Op}] = true
	if now {
		l.effects[p] = append(l.effects[p], call.Op)
	}
}

// takenBack reports whether what a call has done was undone.
func (l *ledger) takenBack(call *txn.Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := part{call.Transaction, call.Branch}
	return call.Op == "action" && l.seen[mark{p, "compensate"}] || call.Op == "try" && l.seen[mark{p, "cancel"}]
}
