package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// callMutants are faults of calls to participants.
func callMutants() []mutants.Mutant {
	queued := txns("waiting for a slot counts as the call's own time", "coord/flight.go",
		"	r.tx.Op(s).InFlight = true\n	r.flights = append(r.flights, f)",
		"	f.began.Store(r.c.clock.now().UnixMicro())\n	r.tx.Op(s).InFlight = true\n	r.flights = append(r.flights, f)")
	lost := mutants.Edit{
		File: "coord/flight.go",
		Old:  "	r.c.lanes.end(f, v)\n	r.apply(", New: "	r.apply(",
	}
	queued.Also = []mutants.Edit{lost}
	probe := txns("a probe that does not come back keeps its right for ever", "coord/breaker.go",
		"return b.probe != 0 && now.Before(b.until)", "return b.probe != 0")
	probe.Also = []mutants.Edit{lost}
	stopped := txns("stopping uses up attempts of assured branches", "coord/call.go",
		"(ctx.Err() != nil || c.life.Err() != nil)", "ctx.Err() != nil")
	stopped.Also = []mutants.Edit{{
		File: "coord/call.go",
		Old:  "	err := c.submitPart(ctx, assured(to, &f.call, f.life))\n",
		New:  "	err := c.ready()\n	if err == nil {\n		err = c.submitPart(ctx, assured(to, &f.call, f.life))\n	}\n",
	}}
	return []mutants.Mutant{
		queued, probe, stopped,
		txns("a drain goes round", "coord/blame.go",
			"if b.lane == nil || b.lane.name == fetched && !b.held && !b.lane.breaker.isOpen() {", "if b.lane == nil {"),
		txns("a run that is to park turns without a pause", "coord/run.go",
			"func (r *run) awaitCalls() next {\n	r.tx.Due = time.Time{}\n", "func (r *run) awaitCalls() next {\n"),
		txns("an answer that came in time is late, if chance wants it", "coord/run.go",
			"	if r.arrived() {\n		return true\n	}\n", ""),
	}
}

// recordMutants are faults of what is written, and of what is said of it.
func recordMutants() []mutants.Mutant {
	believed := txns("complete is believed whoever has owned the record since", "coord/claim.go",
		"inherited := complete != rec.Epoch-1", "inherited := complete == 0")
	believed.Also = []mutants.Edit{{
		File: "coord/takeover.go", Old: `if rec.Owner != "" || complete != rec.Epoch {`, New: "if complete == 0 {",
	}}
	return []mutants.Mutant{
		txns("definitions share memory with their caller", "coord/create.go", "	d = d.Clone()\n", ""),
		txns("accepted, and told as if it were not", "coord/create.go",
			"		return &txn.InDoubtError{ID: rec.ID, Err: err}\n	case stored.Digest", "		return err\n	case stored.Digest"),
		txns("a decision leaves the transaction parked", "coord/run.go",
			`t.Status, t.Waits, t.Parked = p.Decide, "", ""`, `t.Status, t.Waits = p.Decide, ""`),
		txns("a commit after the deadline is taken", "coord/takeover.go",
			"			if c.expire(t) {\n				return true, fmt.Errorf(\"commit", "			if false && c.expire(t) {\n				return true, fmt.Errorf(\"commit"),
		txns("what was taken back is told as done again", "txn/barrier/passage.go",
			"			v, err := b.repeated(ctx, tx, found)\n			return v, found, err\n", "			return Duplicate, found, nil\n"),
		believed,
	}
}
