package txns

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// heal is how long it may take until everything has ended, once everything is well:
// what is held back by a breaker that died is looked at after half a minute.
const heal = 100 * time.Second

// finish lets everything come to its end, and judges it.
func (w *world) finish() {
	calm := time.Duration(0)
	for _, m := range w.plan.moods {
		calm = max(calm, m.to)
	}
	for _, t := range w.plan.troubles {
		calm = max(calm, t.To)
	}
	time.Sleep(max(calm-w.report.Now(), 0) + 5*time.Millisecond)
	w.waitQuiet("healed", heal)
	w.resume()
	w.waitQuiet("resumed", heal)
	close(w.over)
	w.echoes.Wait()
	time.Sleep(5 * time.Second)
	w.waitQuiet("arrived", heal) // a create that its client had given up may have been on its way until now
	w.judgeQuiet()
	for _, l := range w.present2() {
		w.stop(l, false)
	}
	w.net.Drain()
	w.judge.judgeEnd()
}

func (w *world) present2() []*life {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.lives), func(l *life) bool { return l == nil })
}

// waitQuiet waits until nothing is under way, but for what is parked.
func (w *world) waitQuiet(when string, limit time.Duration) {
	end := w.report.Now() + limit
	for {
		open := w.open()
		if len(open) == 0 {
			return
		}
		if w.report.Now() > end {
			for _, rec := range open {
				w.report.Break(ruleEnds,
					"%s: %s is still %s %s after everything was %s (owner %t, waits for %q, due %s)",
					rec.Name, rec.ID, rec.Status, limit, when, rec.Owner != "", rec.Waits,
					rec.Due.Format("15:04:05.000"))
			}
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// open lists what is not final and not parked. What was begun and has a deadline
// ends by that.
func (w *world) open() (open []*driver.Record) {
	for _, rec := range w.records() {
		if !rec.Status.Final() && rec.Parked == "" {
			open = append(open, rec)
		}
	}
	return open
}

func (w *world) records() []*driver.Record {
	records, err := w.store.List(background(), driver.Query{Limit: 100000})
	if err != nil {
		panic(err)
	}
	return records
}

// resume resumes what is parked. Participants are well by now.
func (w *world) resume() {
	for _, rec := range w.records() {
		if rec.Parked == "" {
			continue
		}
		w.judge.acted(rec)
		ctx, cancel := context.WithTimeout(background(), 10*time.Second)
		if err := w.present(0).coord.Act(ctx, rec.ID, txn.ActResume, "the trouble is over"); err != nil {
			w.report.Break(ruleEnds, "%s cannot be resumed: %v", rec.ID, err)
		}
		cancel()
	}
}

// judgeQuiet judges what goes on when everything has ended.
func (w *world) judgeQuiet() {
	w.judge.mu.Lock()
	asks, visits := w.judge.asks, w.judge.visited()
	w.judge.mu.Unlock()
	const quiet = 30 * time.Second
	time.Sleep(quiet)
	most := 0
	for i := range w.plan.replicas {
		most += int(quiet/(w.plan.replicas[i].poll*3/4)) + 1
	}
	most += 4 * len(w.plan.targets) * len(w.plan.replicas) // probes of those that were down
	w.judge.mu.Lock()
	defer w.judge.mu.Unlock()
	if n := w.judge.asks - asks; n > most {
		w.report.Break(ruleRest, "%d requests in %s; polls are %d", n, quiet, most)
	}
	if n := w.judge.visited() - visits; n > 0 {
		w.report.Break(ruleRest, "%d calls after everything had ended", n)
	}
}

func (j *judge) visited() (n int) {
	for _, v := range j.visits {
		n += len(v)
	}
	return n
}

// acted judges something that was still parked when everything was well: if its
// client was told that it is committed or rolled back, nobody need have acted.
func (j *judge) acted(rec *driver.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.resumed[rec.ID] = j.report.Now()
	for _, c := range j.claims {
		decides := c.op.deed == commits || c.op.deed == rollsBack || c.op.deed == compensate || c.op.deed == resumes
		if c.op.id == rec.ID && decides && c.err == nil && j.records[rec.ID].since < c.called &&
			!j.parkedBy(rec.ID, c.called) &&
			(c.op.deed == resumes || j.records[rec.ID].decided > c.called) {
			j.report.Break(ruleParked, "%s: done, was the answer, but it has been parked since %s: %s",
				c.op, j.records[rec.ID].since, rec.Parked)
		}
	}
}

// parkedBy reports whether a client may have parked a transaction after a time.
func (j *judge) parkedBy(id string, after time.Duration) bool {
	return slices.ContainsFunc(j.claims, func(c *claim) bool {
		return c.op.id == id && c.op.deed == parks && c.returned > after
	})
}

// judgeEnd judges how everything has ended.
func (j *judge) judgeEnd() {
	for _, rec := range j.world.records() {
		t, err := j.world.read(rec.ID)
		if err != nil {
			j.report.Break(ruleEnds, "%s: %v", rec.ID, err)
			continue
		}
		if t.Status != txn.InDoubt && t.Status.Final() {
			if err := j.ledger.check(t); err != nil {
				j.report.Break(ruleEffects, "%v", err)
			}
		}
		j.cause(t)
		j.attempts(t)
		j.deadline(t)
	}
	for _, c := range j.claims {
		j.truth(c)
	}
}

// read asks a coordinator, which knows how records are read.
func (w *world) read(id string) (*txn.Transaction, error) {
	return w.all[len(w.all)-1].coord.Get(background(), id)
}

// truth compares what a client was told with what became of it.
func (j *judge) truth(c *claim) {
	rec, err := j.world.store.Load(background(), c.op.id)
	known := err == nil
	creates := c.op.make != nil
	switch {
	case creates && c.err == nil && !known:
		j.report.Break(ruleOutcome, "%s: accepted, and not in the store", c.op)
	case creates && known && j.denied(c) && (gaveUp(c.err) || !j.elsewhere(c)):
		j.report.Break(ruleOutcome, "%s: told %q and %v, as if nothing had happened, but it is %s",
			c.op, c.told.Outcome, c.err, rec.Status)
	case !known:
		return
	case c.told.Outcome == txn.Committed || c.told.Outcome == txn.RolledBack:
		if rec.Status != c.told.Outcome {
			j.report.Break(ruleOutcome, "%s: told %s, but it is %s", c.op, c.told.Outcome, rec.Status)
		}
	case c.op.deed == commits && c.err == nil && rec.Status != txn.Committed && rec.Status != txn.InDoubt,
		c.op.deed == rollsBack && c.err == nil && rec.Status != txn.RolledBack && rec.Status != txn.InDoubt:
		j.report.Break(ruleOutcome, "%s: done, but it is %s", c.op, rec.Status)
	}
}

// denied reports whether a client was told that its transaction was not accepted.
func (j *judge) denied(c *claim) bool {
	return c.err != nil && !c.inDoubt() && (c.told.Outcome == "" || c.op.deed != runs) && !c.parkedOrBack()
}

// gaveUp reports whether an error is that of a context, which proves nothing.
func gaveUp(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func (c *claim) parkedOrBack() bool {
	_, parked := errors.AsType[*txn.ParkedError](c.err)
	_, back := errors.AsType[*txn.RolledBackError](c.err)
	return parked || back
}

// elsewhere reports whether somebody else may have had the same transaction accepted.
func (j *judge) elsewhere(c *claim) bool {
	return slices.ContainsFunc(j.claims, func(o *claim) bool {
		return o != c && o.op.make != nil && o.op.id == c.op.id && !j.denied(o)
	})
}

// deadline judges what was taken after a transaction's time was over.
func (j *judge) deadline(t *txn.Transaction) {
	h := j.records[t.ID]
	if h == nil || h.deadline.IsZero() || !h.begun {
		return
	}
	end := h.deadline.Sub(time.Now().Add(-j.report.Now()))
	for _, c := range j.claims {
		if c.op.id == t.ID && (c.op.deed == commits || c.op.deed == enlists) && c.err == nil &&
			c.called > end+j.world.uncertain() && (h.decided == 0 || h.decided > c.called) {
			j.report.Break(ruleDeadline, "%s: done, %s after the deadline", c.op, c.called-end)
		}
	}
}

// uncertain is how far a replica's idea of the store's time may be off.
func (w *world) uncertain() (d time.Duration) {
	for _, s := range w.plan.replicas {
		d = max(d, 2*s.far)
	}
	return d + time.Millisecond
}

// cause judges whether there was one for a roll-back.
func (j *judge) cause(t *txn.Transaction) {
	if t.Status != txn.RolledBack || j.askedFor(t.ID) {
		return
	}
	if !t.Deadline.IsZero() && !t.Decided.Before(t.Deadline.Add(-time.Millisecond)) {
		return
	}
	if t.Check != nil {
		return
	}
	for i := range t.Branches {
		if j.stuck(t, i) {
			return
		}
	}
	j.report.Break(ruleCause, "%s was rolled back: %s", t.ID, t.Reason)
}

// stuck reports whether a branch could not go forward.
func (j *judge) stuck(t *txn.Transaction, i int) bool {
	b := &t.Branches[i]
	if assured(b.Do) && !j.world.net.Well(-1, 0) {
		return true // its message may not have been accepted
	}
	failed := 0
	for _, op := range []string{"action", "try"} {
		for _, v := range j.visits[mark{part{t.ID, b.ID}, op}] {
			if v.answer == txn.AnswerRefused {
				return true
			}
			if v.answer == txn.AnswerFailed && !v.broken || v.late || v.to-v.from > b.Policy.Timeout {
				failed++
			}
		}
	}
	return b.Policy.Attempts > 0 && failed >= b.Policy.Attempts
}

// attempts judges whether every failure that was entered is somebody's.
func (j *judge) attempts(t *txn.Transaction) {
	failed := make(map[mark]int)
	for _, a := range t.Attempts {
		m := mark{part{t.ID, a.Branch}, a.Op}
		if a.Answer != string(txn.AnswerFailed) && a.Answer != string(txn.AnswerUnreached) {
			continue
		}
		if assured(a.Target) && !j.stopped(&a) && !j.world.net.Well(sim.Everybody, 0) {
			continue // its message may not have been accepted
		}
		if failed[m] += a.Times(); failed[m] > j.countFailures(m, a.Target) {
			j.report.Break(ruleNobody, "%s: %s %s is entered as failed: %s", t.ID, a.Branch, a.Op, a.Excerpt)
			return
		}
	}
}

// stopped reports whether an attempt ended when its replica was stopping already.
func (j *judge) stopped(a *txn.Attempt) bool {
	return slices.ContainsFunc(j.lost, func(l *life) bool {
		return l.name == a.By && a.At.Add(a.Took).Sub(time.Now().Add(-j.report.Now())) >= l.ended
	})
}

// countFailures counts the calls of an operation that may be taken for failures.
func (j *judge) countFailures(m mark, to txn.Target) (n int) {
	if assured(to) {
		return 0
	}
	for _, v := range j.visits[m] {
		bad := (v.answer == txn.AnswerFailed || v.answer == txn.AnswerRefused) && !v.broken
		if bad || v.late || v.to-v.from > j.world.plan.limit {
			n++
		}
	}
	return n
}

// askedFor reports whether somebody may have rolled a transaction back by hand.
func (j *judge) askedFor(id string) bool {
	return slices.ContainsFunc(j.claims, func(c *claim) bool {
		return c.op.id == id && (c.op.deed == rollsBack || c.op.deed == compensate)
	})
}
