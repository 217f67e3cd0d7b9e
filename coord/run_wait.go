package coord

import "time"

// waitForEvent waits until something has happened. It reports whether the run goes on.
func (r *run) waitForEvent() bool {
	if r.enterArrived() {
		return true
	}
	if r.handOverIfAsked() {
		return false
	}
	r.timer.Reset(r.untilNextEvent())
	select {
	case a := <-r.answers:
		r.enterAnswer(a)
		return true
	case <-r.timer.C:
		r.giveUpLate()
		return r.renewLease()
	case <-r.leaving:
		r.breakOffAndHandOver(evictPause)
	case <-r.c.life.Done():
		r.breakOffAndHandOver(0)
	}
	return false
}

// enterArrived enters an answer that came while the run was busy with the store. It is
// entered before any deadline is looked at, because it is not its fault that the store was
// slow.
func (r *run) enterArrived() bool {
	select {
	case a := <-r.answers:
		r.enterAnswer(a)
		return true
	default:
		return false
	}
}

// handOverIfAsked hands the transaction over if that was asked for while the run was busy.
func (r *run) handOverIfAsked() bool {
	if r.c.life.Err() != nil {
		r.breakOffAndHandOver(0)
		return true
	}
	select {
	case <-r.leaving:
		r.breakOffAndHandOver(evictPause)
		return true
	default:
		return false
	}
}

// untilNextEvent is the time until the plan, a call or the lease wants attention.
func (r *run) untilNextEvent() time.Duration {
	now := r.c.clock.now()
	until := r.rec.Due.Add(-r.c.opts.Lease / 2)
	if due := r.tx.Due; !due.IsZero() && due.Before(until) {
		until = due
	}
	for _, f := range r.flights {
		if end := f.deadline(now); end.Before(until) {
			until = end
		}
	}
	return max(until.Sub(now), 0)
}

// renewLease renews the lease when half of it is over. It reports whether the transaction
// is still ours.
func (r *run) renewLease() bool {
	if r.rec.Due.Sub(r.c.clock.now()) > r.c.opts.Lease/2 {
		return true
	}
	return r.save(false)
}
