package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// callMutants are faults of calls to participants.
func callMutants() []mutants.Mutant {
	queued := txns("waiting for a slot counts as the call's own time", "coord/run_call.go",
		"	r.tx.Op(s).InFlight = true\n	r.flights = append(r.flights, f)",
		"	f.began.Store(r.c.clock.now().UnixMicro())\n	r.tx.Op(s).InFlight = true\n"+
			"	r.flights = append(r.flights, f)")
	lost := mutants.Edit{
		File: "coord/run_giveup.go",
		Old:  "	r.c.endFlight(f, found)\n	r.applyAnswer(", New: "	r.applyAnswer(",
	}
	queued.Also = []mutants.Edit{lost}
	probe := txns("a probe that does not come back keeps its right for ever", "coord/internal/lanes/breaker.go",
		"return b.probe != 0 && now.Before(b.probeUntil)", "return b.probe != 0")
	probe.Also = []mutants.Edit{lost}
	stopped := txns("stopping uses up attempts of assured branches", "coord/run_dispatch.go",
		"(ctx.Err() != nil || c.life.Err() != nil)", "ctx.Err() != nil")
	stopped.Also = []mutants.Edit{{
		File: "coord/run_async.go",
		Old:  "	err := c.submitPart(ctx, asyncMessage(to, &f.call, f.life))\n",
		New: "	err := c.checkRunning(ctx)\n	if err == nil {\n" +
			"		err = c.submitPart(ctx, asyncMessage(to, &f.call, f.life))\n	}\n",
	}}
	return []mutants.Mutant{
		queued, probe, stopped,
		txns("a drain goes round", "coord/run_blame.go",
			"if b.lane == nil || b.lane.Name() == fetched && !b.held && !b.lane.IsDown() {", "if b.lane == nil {"),
		txns("a run that is to park turns without a pause", "coord/run_plan.go",
			"func (r *run) awaitCalls() afterPlan {\n	r.tx.Due = time.Time{}\n",
			"func (r *run) awaitCalls() afterPlan {\n"),
		txns("an answer that came in time is late, if chance wants it", "coord/run_wait.go",
			"	if r.enterArrived() {\n		return true\n	}\n", ""),
	}
}

// recordMutants are faults of what is written, and of what is said of it.
func recordMutants() []mutants.Mutant {
	believed := txns("complete is believed whoever has owned the record since", "coord/recover_adopt.go",
		"inherited := complete != rec.Epoch-1", "inherited := complete == 0")
	believed.Also = []mutants.Edit{{
		File: "coord/change.go", Old: `if rec.Owner != "" || complete != rec.Epoch {`, New: "if complete == 0 {",
	}}
	return []mutants.Mutant{
		txns("definitions share memory with their caller", "coord/submit_record.go", "	d = d.Clone()\n", ""),
		txns("accepted, and told as if it were not", "coord/submit_write.go",
			"		return &txn.InDoubtError{ID: rec.ID, Err: err}\n	case stored.Digest",
			"		return err\n	case stored.Digest"),
		txns("a decision leaves the transaction parked", "coord/run_decide.go",
			`t.Status, t.Waits, t.Parked = p.Decide, "", ""`, `t.Status, t.Waits = p.Decide, ""`),
		txns("a commit after the deadline is taken", "coord/commit.go",
			"			if c.expireIfLate(t) {\n				return true, fmt.Errorf(\"commit",
			"			if false && c.expireIfLate(t) {\n				return true, fmt.Errorf(\"commit"),
		txns("what was taken back is told as done again", "txn/barrier/passage.go",
			"			v, err := b.repeated(ctx, tx, found)\n			return v, found, err\n",
			"			return Duplicate, found, nil\n"),
		believed,
	}
}
