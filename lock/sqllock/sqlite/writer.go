package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/batch"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// request is a step that shares a transaction with others of this process.
type request = batch.Request[*keeper.Step, struct{}]

// writer decides steps in transactions, on a connection of its own.
type writer struct {
	file *file
	s    *session // nil until it is needed, and after it has failed

	turns turnstile

	sweep keeper.Sweeper
}

// serveSteps decides steps, and answers them.
func (w *writer) serveSteps(requests []*request) {
	w.file.writing.Lock()
	defer w.file.writing.Unlock()
	steps := make([]*keeper.Step, len(requests))
	for i, r := range requests {
		steps[i] = r.Want
	}
	err := w.runSteps(steps)
	if isEmptied(err) {
		if err = w.file.unwritten(w.file.setUp(w.file.tryMakeTables)); err == nil {
			err = w.runSteps(steps)
		}
	}
	for _, r := range requests {
		r.Answer(struct{}{}, err)
	}
	if err == nil && w.sweep.IsDue(len(steps)) {
		w.sweepIdle()
	}
}

// runSteps makes one transaction of the steps. When it cannot be told whether it has taken effect, the error is of no
// class.
func (w *writer) runSteps(steps []*keeper.Step) error {
	woken, err := w.writeSteps(steps)
	if err == nil {
		w.file.tellWoken(woken)
	}
	return err
}

func (w *writer) writeSteps(steps []*keeper.Step) (woken []*ledger.State, err error) {
	limit, cancel := context.WithTimeout(w.file.life, w.file.opts.BusyTimeout)
	defer cancel()
	endTurn := w.turns.takeTurn(limit)
	defer endTurn()
	if err := w.beginWrite(limit); err != nil {
		return nil, w.file.unwritten(err)
	}
	if woken, err = w.decideSteps(steps); err != nil {
		return nil, w.file.unwritten(w.abort(err))
	}
	if err := w.s.execute("COMMIT"); err != nil {
		err = fmt.Errorf("commit: %w", w.abort(err))
		if isFull(err) {
			err = w.file.unwritten(err)
		}
		return nil, err
	}
	return woken, nil
}

// abort ends a transaction that has failed, and its connection with it, which may have lost the file.
func (w *writer) abort(cause error) error {
	_ = w.s.execute("ROLLBACK") // SQLite may have done that itself; what is not ended now ends with the connection
	w.drop()
	return cause
}

func (w *writer) drop() {
	if w.s != nil {
		_ = w.s.close() // it is given up in any case
		w.s = nil
	}
}

// beginWrite begins a transaction that writes, when nobody else does: somebody may, who has had no turn. Who waits for
// that inside SQLite starves, so it is tried again and again, after pauses that are not those of others.
func (w *writer) beginWrite(limit context.Context) error {
	for most := firstPause; ; most = min(most*9/8, longestPause) {
		err := w.tryBegin()
		if err == nil || !isBusy(err) {
			return err
		}
		if !sleep.For(limit, shortestPause+rand.N(most)) {
			if w.file.life.Err() != nil {
				return batch.ErrClosed
			}
			return &lockedError{w.file.path, err}
		}
	}
}

const (
	shortestPause = 100 * time.Microsecond
	firstPause    = 900 * time.Microsecond
	longestPause  = 1500 * time.Microsecond // who waits for long must not be more patient than the others
)

func (w *writer) tryBegin() error {
	if !w.file.same() { // it was removed: what was in it is lost, and the next one begins
		w.drop()
		w.turns.close()
		return errors.Join(fileMissing(w.file.path), w.file.setUp(w.file.trySetUp), w.file.keepUpSign())
	}
	if w.s == nil {
		s, err := w.file.connect()
		if err != nil {
			return err
		}
		w.s = s
	}
	return w.s.execute("BEGIN IMMEDIATE")
}

// decideSteps decides one step after the other, and writes what has changed by them. It returns who is to be told.
func (w *writer) decideSteps(steps []*keeper.Step) ([]*ledger.State, error) {
	ctx := context.Background()
	about, err := w.file.readAbout(ctx, w.s)
	if err != nil {
		return nil, err
	}
	t := &transaction{file: w.file, s: w.s, about: about, states: make(map[string]*rows.Row)}
	for _, step := range steps {
		if err := t.decideStep(ctx, step); err != nil {
			return nil, err
		}
	}
	return t.save(ctx)
}

// transaction is what several steps share.
type transaction struct {
	file   *file
	s      *session
	about  rows.About
	states map[string]*rows.Row
	loaded []*rows.Row
}

func (t *transaction) decideStep(ctx context.Context, step *keeper.Step) error {
	c := t.file.clock(&t.about)
	states := make([]*ledger.State, len(step.Names))
	for i, name := range step.Names {
		row := t.states[name]
		if row == nil || step.ID != "" {
			if err := t.saveRow(ctx, row); err != nil { // it has to be read again, with that answer
				return err
			}
			var err error
			if row, err = t.file.load(ctx, t.s, name, step.ID, &c, &t.about); err != nil {
				return err
			}
			t.states[name] = row
			t.loaded = append(t.loaded, row)
		}
		states[i] = row.State
	}
	step.Decide(&c, states)
	return nil
}

func (t *transaction) saveRow(ctx context.Context, row *rows.Row) error {
	if row == nil {
		return nil
	}
	return t.file.layout.Save(ctx, t.s, row)
}

func (t *transaction) save(ctx context.Context) ([]*ledger.State, error) {
	for _, row := range t.states {
		if err := t.saveRow(ctx, row); err != nil {
			return nil, err
		}
	}
	var woken []*ledger.State
	for _, row := range t.loaded {
		if row.State.Wakes != (ledger.Wakes{}) {
			woken = append(woken, row.State)
		}
	}
	return woken, nil
}

// readAbout reads what the store says of itself, and refuses to go by the clock of another machine.
func (f *file) readAbout(ctx context.Context, s *session) (rows.About, error) {
	about, found, err := f.layout.About(ctx, s)
	switch {
	case err != nil:
		return about, err
	case !found:
		return about, errEmptied
	case about.Boot != f.boot:
		return about, f.anotherMachine()
	}
	return about, nil
}

func (f *file) anotherMachine() error {
	return fmt.Errorf("%w: %s is used by another machine, or another kernel: each has a clock of its own",
		driver.ErrRefused, f.path)
}
