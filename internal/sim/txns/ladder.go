package txns

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// health is what a replica can know of a target.
type health struct {
	bad        int // calls without success, in a row
	down       int // calls without an answer in time, in a row
	since      time.Duration
	recoveries []time.Duration
}

func (j *judge) healthOf(v *visit) *health {
	key := site2{v.replica, v.target}
	h := j.health[key]
	if h == nil {
		h = &health{}
		j.health[key] = h
	}
	return h
}

// addVisit notes how a call ended, and a recovery: an answer after enough calls without.
func (h *health) addVisit(v *visit) {
	if v.broken {
		return
	}
	if v.late {
		h.down++
	} else {
		h.down = 0
	}
	if v.answer == txn.AnswerFailed || v.late {
		if h.bad == 0 {
			h.since = v.to
		}
		h.bad++
		if !v.late && h.bad > tired {
			h.recoveries = append(h.recoveries, v.to)
		}
		return
	}
	if h.bad >= tired {
		h.recoveries = append(h.recoveries, v.to)
	}
	h.bad = 0
}

// tired is how many failures in a row make a target one that can recover.
const tired = 5

// recovered counts the recoveries of a target in a time, as seen by any replica.
func (j *judge) recovered(target int, from, to time.Duration) (n int) {
	for key, h := range j.health {
		if key.target != target {
			continue
		}
		for _, at := range h.recoveries {
			if from <= at && at <= to {
				n++
			}
		}
	}
	return n
}

// repeated judges a call of an operation that was called before.
func (j *judge) repeated(before []*visit, v *visit) {
	last := before[len(before)-1]
	if j.excused(v.id, last.from, v.from) {
		return
	}
	if last.to > 0 && (last.answer == txn.AnswerDone || last.answer == txn.AnswerRefused && forward(v.op)) &&
		!last.late && !last.broken {
		j.report.Break(ruleOnce, "%s is called again, though it was %s at %s", v.text(), last.answer, last.to)
		return
	}
	if last.answer != txn.AnswerFailed || last.to == 0 || j.healthOf(v).down+j.hanging(v) >= tired {
		return // it may be the probe
	}
	if due := j.due(before); v.from < due-j.world.uncertain() && j.recovered(v.target, last.from, v.from) == 0 {
		j.report.Break(ruleLadder, "%s is called %s after a failure, and due %s later",
			v.text(), v.from-last.to, due-v.from)
	}
}

// hanging counts the calls of the same target by the same replica that have not ended
// though their time was over: their driver has taken them for calls without an answer.
func (j *judge) hanging(v *visit) (n int) {
	for _, row := range j.visits {
		for _, w := range row {
			if w.replica == v.replica && w.target == v.target && w.to == 0 && v.from-w.from > j.world.plan.limit {
				n++
			}
		}
	}
	return n
}

// drainLasts is how long what waits for a target may be fetched after the recovery: one by
// one, where there is little room.
const drainLasts = 2 * time.Second

// due is when an operation may be called again: its last failure and the pause after so
// many, but for those of calls that a recovery may have brought early, as a present.
func (j *judge) due(row []*visit) (due time.Duration) {
	n, before := 0, time.Duration(0)
	for _, v := range row {
		early := j.recovered(v.target, before-drainLasts, v.from) > 0
		before = v.from
		switch {
		case v.broken, v.to == 0, v.from < j.resumed[v.id]:
		case v.answer != txn.AnswerFailed:
			n, due = 0, 0
		case v.from >= due-j.world.uncertain() && !early:
			n++
			due = v.to + plan.Pause(j.policy(v), n, 0)*3/4
		}
	}
	return due
}

// policy is that of a call.
func (j *judge) policy(v *visit) txn.Policy {
	for i := range j.world.plan.ops {
		o := &j.world.plan.ops[i]
		if o.id != v.id || o.make == nil {
			continue
		}
		d := o.make()
		if v.op == "check" {
			return *d.Check.Policy
		}
		if n, ok := d.Branch(v.branch); ok {
			return *d.Branches[n].Policy
		}
	}
	return txn.Policy{Backoff: time.Millisecond, MaxBackoff: time.Millisecond} // of nobody we know
}

// excused reports whether something has happened to a transaction, or to the whole, that
// may have had the memory of a call lost: a crash, a stop, trouble at the store, a
// person.
func (j *judge) excused(id string, from, to time.Duration) bool {
	if !j.well(from - aftermath) {
		return true
	}
	if at, ok := j.resumed[id]; ok && at >= from {
		return true
	}
	for _, l := range j.lost {
		if l.ended >= from-10*time.Second {
			return true
		}
	}
	for i := range j.world.plan.ops {
		o := &j.world.plan.ops[i]
		if o.id == id && o.make == nil && o.deed != waits && o.at <= to {
			return true
		}
	}
	return false
}

func isPending(err error) bool {
	_, ok := errors.AsType[*txn.PendingError](err)
	return ok
}
