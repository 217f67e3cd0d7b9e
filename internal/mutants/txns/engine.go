package main

import "github.com/bedrock-go/bedrock/internal/mutants"

const engine = "coord"

// decisionMutants are faults in deciding, writing that down, and telling of it.
func decisionMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a decision is written after the first call", File: "coord/run_decide.go", Pkg: engine,
			Old:  "	enterDecision(r.tx, p, now)\n	if !r.save(false) {\n",
			New:  "	enterDecision(r.tx, p, now)\n	r.dirty = true\n	if p.Decide.Final() && !r.save(false) {\n",
			Test: "TestDecisionIsDurableBeforeItsFirstCall",
		},
		{
			Name: "the outcome is told before it is durable", File: "coord/run_decide.go", Pkg: engine,
			Old:  "	if !r.save(false) {\n		return thenEnd\n	}\n	r.c.tellDecision(r.tx)\n",
			New:  "	r.c.tellDecision(r.tx)\n	if !r.save(false) {\n		return thenEnd\n	}\n",
			Test: "TestOutcomeIsToldWhenItIsDurable",
		},
		{
			Name: "calls from before a decision go on", File: "coord/run_decide.go", Pkg: engine,
			Old:  "	r.halt()\n	enterDecision(r.tx, p, now)",
			New:  "	enterDecision(r.tx, p, now)",
			Test: "TestTheDeadlineBreaksCallsOff",
		},
		{
			Name: "a write whose acknowledgement was lost counts as somebody else's", File: "coord/run_save.go",
			Pkg:  engine,
			Old:  "Revision: was.Revision + 1, Epoch: rec.Epoch,",
			New:  "Revision: 0, Epoch: rec.Epoch,",
			Test: "TestLostAcknowledgementIsFoundOut",
		},
		{
			Name: "a create whose acknowledgement was lost counts as somebody else's", File: "coord/submit_write.go",
			Pkg:  engine,
			Old:  "stored.Revision == 1 && stored.Created",
			New:  "stored.Revision == 0 && stored.Created",
			Test: "TestALostCreateIsFoundOut",
		},
		{
			Name: "a branch joins whatever was decided", File: "coord/enlist.go", Pkg: engine,
			Old:  "		if t.Status != txn.Open {\n			return false, fmt.Errorf(\"enlist",
			New:  "		if t.Status.Final() {\n			return false, fmt.Errorf(\"enlist",
			Test: "TestEnlistMeetsTheDecision",
		},
		{
			Name: "a branch joins beside the decision", File: "coord/change_takeover.go", Pkg: engine,
			Old: "		err := c.update(ctx, was, rec)\n",
			New: "		err := c.update(ctx, was, rec)\n		if errors.Is(err, driver.ErrStale) {\n" +
				"			old, _ := c.store.Load(ctx, rec.ID)\n" +
				"			err = c.update(ctx, old.Version(), rec)\n		}\n",
			Test: "TestEnlistMeetsTheDecision",
		},
		{
			Name: "what is rolling back can be committed", File: "coord/commit.go", Pkg: engine,
			Old:  "		case txn.Open:\n			if c.expireIfLate(",
			New:  "		case txn.Open, txn.RollingBack:\n			if c.expireIfLate(",
			Test: "TestTheFirstDecisionCounts",
		},
		{
			Name: "what is committing can be rolled back", File: "coord/commit.go", Pkg: engine,
			Old:  "		case txn.Open, txn.Running:\n			if t.",
			New:  "		case txn.Open, txn.Running, txn.Committing:\n			if t.",
			Test: "TestTheFirstDecisionCounts",
		},
		{
			Name: "time is the coordinator's own", File: "coord/clock.go", Pkg: engine,
			Old:  "r.store.Add(local.Sub(r.local))",
			New:  "r.store.Add(local.Sub(r.store))",
			Test: "TestTheStoresClockCounts",
		},
		{
			Name: "a delay begins before the decision", File: "coord/run_decide.go", Pkg: engine,
			Old:  "		t.Decided = now\n",
			New:  "		t.Decided = t.Created\n",
			Test: "TestADelayBeginsWithTheDecision",
		},
	}
}

// ownerMutants are faults in who drives a transaction.
func ownerMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "what is remembered is believed", File: "coord/change.go", Pkg: engine,
			Old:  "		return false, nil //nolint:nilerr // what the store has decides",
			New:  "		return true, d.told",
			Test: "TestWhatIsRememberedIsNotBelieved",
		},
		{
			Name: "a change that was overtaken is given up", File: "coord/change.go", Pkg: engine,
			Old:  "return !errors.Is(err, driver.ErrStale), err",
			New:  "return true, nil",
			Test: "TestOvertakenChangeIsMadeAnew",
		},
		{
			Name: "a run that was overtaken goes on", File: "coord/run_save.go", Pkg: engine,
			Old:  "isOwn(stored, r.rec.Version(), rec) {",
			New:  "!bytes.Equal(stored.State, nil) {",
			Test: "TestOvertakenRunLetsGo",
		},
		{
			Name: "a lease is renewed in memory only", File: "coord/run_wait.go", Pkg: engine,
			Old:  "		return true\n	}\n	return r.save(false)\n}\n",
			New:  "		return true\n	}\n	r.rec.Due = r.rec.Due.Add(r.c.opts.Lease)\n	return true\n}\n",
			Test: "TestALongCallKeepsItsLease",
		},
		{
			Name: "stop hands nothing over", File: "coord/run_end.go", Pkg: engine,
			Old:  "	r.tx.Due = r.c.clock.now().Add(pause)\n	r.save(true)\n",
			New:  "",
			Test: "TestStopHandsOver",
		},
		{
			Name: "an intervention leaves the epoch", File: "coord/change_takeover.go", Pkg: engine,
			Old:  "	t.Epoch = old.Epoch + 1\n",
			New:  "	t.Epoch = old.Epoch\n",
			Test: "TestOvertakenRunLetsGo",
		},
		{
			Name: "what was submitted before is driven again", File: "coord/submit_write.go", Pkg: engine,
			Old:  "		return errAccepted\n",
			New:  "		return nil\n",
			Test: "TestSubmitIsIdempotent",
		},
	}
}

// interventionMutants are faults in what people do.
func interventionMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "what is under way can be abandoned", File: "coord/operate.go", Pkg: engine,
			Old: "abandonParked(t *txn.Transaction, reason string) bool {\n" +
				"	if t.Status.Final() || t.Parked == \"\" {",
			New:  "abandonParked(t *txn.Transaction, reason string) bool {\n	if t.Status.Final() {",
			Test: "TestInterventions/running/abandon",
		},
		{
			Name: "what was decided can be compensated by hand", File: "coord/operate.go", Pkg: engine,
			Old:  "	if t.Status != txn.Open && t.Status != txn.Running || t.Recovery == txn.Forward {\n",
			New:  "	if t.Status == txn.Open {\n",
			Test: "TestInterventions/final/compensate",
		},
		{
			Name: "a retry by hand waits for its time", File: "coord/operate.go", Pkg: engine,
			Old:  "plan.Renew(op)",
			New:  "plan.Renew(new(txn.Op))",
			Test: "TestRetryDoesNotWait",
		},
		{
			Name: "a subscription that meets another fails", File: "coord/topics.go", Pkg: engine,
			Old:  "case errors.Is(err, driver.ErrRefused):",
			New:  "case errors.Is(err, driver.ErrRefused), errors.Is(err, driver.ErrStale):",
			Test: "TestNoSubscriptionIsLost",
		},
		{
			Name: "a topic counts as a transaction", File: "coord/topics.go", Pkg: engine,
			Old:  "rec.Status = driver.Kept",
			New:  "rec.Status = driver.Open",
			Test: "TestATopicCountsAsATransaction",
		},
		{
			Name: "a subscription that may be made is told as failed", File: "coord/topics.go", Pkg: engine,
			Old:  "doubt = doubt || !overtaken",
			New:  "doubt = doubt && !overtaken",
			Test: "TestASubscriptionIsToldToHaveFailedAlthoughMade",
		},
	}
}

// recoveryMutants are faults in taking over what others have left, and in waiting.
func recoveryMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "what a crashed owner may have called counts as not called", File: "coord/recover_adopt.go",
			Pkg:  engine,
			Old:  "	if t.Status != txn.Running {\n		return\n	}\n",
			New:  "	if t.Status != \"\" {\n		return\n	}\n",
			Test: "TestCrashLeavesDoubt",
		},
		{
			Name: "a takeover takes all that is not entered for not called", File: "coord/recover_adopt.go",
			Pkg:  engine,
			Old:  "	if inherited {\n		markUnsure(t)\n",
			New:  "	if inherited && target != \"\" {\n		markUnsure(t)\n",
			Test: "TestATakeoverUndoesWhatIsInDoubt",
		},
		{
			Name: "complete is believed whoever has owned the record since", File: "coord/recover_adopt.go",
			Pkg:  engine,
			Old:  "inherited := complete != rec.Epoch-1",
			New:  "inherited := complete == 0",
			Test: "TestCallsOfAnOwnerThatHasNotWritten",
		},
		{
			Name: "progress counts as complete amid calls", File: "coord/run_save.go", Pkg: engine,
			Old:  "complete && len(r.flights) == 0)",
			New:  "true)",
			Test: "TestATakeoverUndoesWhatIsInDoubt",
		},
		{
			Name: "progress is not written before a call", File: "coord/run_plan.go", Pkg: engine,
			Old:  "now.Sub(r.written) > saveProgress",
			New:  "now.Sub(r.written) < 0",
			Test: "TestACrashRepeatsNoOldStep",
		},
		{
			Name: "retries are kept in memory only", File: "coord/run_end.go", Pkg: engine,
			Old:  "waits(r.fetched)\n	if r.save(true) && ",
			New:  "waits(r.fetched)\n	if r.dirty && ",
			Test: "TestRetriesOutliveTheirCoordinator",
		},
		{
			Name: "what waits keeps its place in memory", File: "coord/run_plan.go", Pkg: engine,
			Old:  "keepInMemory = 500 * time.Millisecond",
			New:  "keepInMemory = time.Hour",
			Test: "TestWaitingTakesNoRoom",
		},
		{
			Name: "what finds no room waits for a lease to end", File: "coord/submit.go", Pkg: engine,
			Old:  "		giveToAnyOwner(t, rec)\n		defer",
			New:  "		defer",
			Test: "TestWhoFindsNoRoomIsNext",
		},
		{
			Name: "a damaged record is claimed again and again", File: "coord/recover_adopt.go", Pkg: engine,
			Old:  "	if err == nil {\n		c.opts.Logger.Warn(\"mode",
			New:  "	if err == nil || rec.ID != \"\" {\n		c.opts.Logger.Warn(\"mode",
			Test: "TestADamagedRecordIsParked",
		},
	}
}

// restMutants are faults in waiting for targets that are down, and in cleaning up.
func restMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a breaker never opens", File: "coord/internal/lanes/breaker.go", Pkg: engine,
			Old:  "b.silent >= breakerFailures",
			New:  "b.silent < 0",
			Test: "TestTheEndOfAnOutageIsNoticed",
		},
		{
			Name: "a breaker never closes", File: "coord/internal/lanes/breaker.go", Pkg: engine,
			Old:  "b.silent, b.open = 0, false",
			New:  "b.silent = 0",
			Test: "TestTheEndOfAnOutageIsNoticed",
		},
		{
			Name: "a target that has recovered from errors goes unnoticed",
			File: "coord/internal/lanes/breaker.go", Pkg: engine,
			Old:  "c.Recovered = c.Closed || b.failures >= breakerFailures && now.Sub(b.since) >= breakerPause",
			New:  "c.Recovered = c.Closed",
			Test: "TestFailingTargetIsDrainedWhenItRecovers",
		},
		{
			Name: "what waited for a target is not fetched", File: "coord/recover_drain.go", Pkg: engine,
			Old:  "	if change.Recovered {\n",
			New:  "	if false {\n",
			Test: "TestTheEndOfAnOutageIsNoticed",
		},
		{
			Name: "what was fetched still waits", File: "coord/recover_adopt.go", Pkg: engine,
			Old:  "	if target != \"\" {\n		hurryCalls(",
			New:  "	if target == \" \" {\n		hurryCalls(",
			Test: "TestTheEndOfAnOutageIsNoticed",
		},
		{
			Name: "a target that is down is not tried", File: "coord/start_stop.go", Pkg: engine,
			Old:  "		c.work.Go(c.probeLanes)\n",
			New:  "",
			Test: "TestTheEndOfAnOutageIsNoticed",
		},
		{
			Name: "what was fetched in vain is fetched again", File: "coord/run_blame.go", Pkg: engine,
			Old:  "b.lane.Name() == fetched && ",
			New:  "b.lane.Name() == \"\" && ",
			Test: "TestARecoveryIsOneEarlyTry",
		},
		{
			Name: "a probe has its right for ever", File: "coord/internal/lanes/breaker.go", Pkg: engine,
			Old:  "return b.probe != 0 && now.Before(b.probeUntil)",
			New:  "return b.probe != 0",
			Test: "TestAProbeThatMayTakeAnHour",
		},
		{
			Name: "a breaker stays open though nothing waits", File: "coord/internal/lanes/breaker.go", Pkg: engine,
			Old:  "	if b.searchPause <= HoldBack {\n",
			New:  "	if b.searchPause > 0 {\n",
			Test: "TestDeadTargetsAreForgotten",
		},
		{
			Name: "what is assured goes the way of its target", File: "coord/internal/lanes/name.go", Pkg: engine,
			Old:  "		return string(txn.Async(txn.Target(name))), \"\"\n",
			New:  "		return name, \"\"\n",
			Test: "TestAnAssuredBranchIsNotHeldBack",
		},
		{
			Name: "what could not be archived is removed", File: "coord/retain.go", Pkg: engine,
			Old:  "	if err := c.archive(ctx, records); err != nil {\n		return 0, err\n	}\n",
			New:  "	_ = c.archive(ctx, records)\n",
			Test: "TestWhatIsNotArchivedStays",
		},
		{
			Name: "final transactions are removed at once", File: "coord/retain.go", Pkg: engine,
			Old:  "c.clock.now().Add(-c.opts.Retention.Keep)",
			New:  "c.clock.now()",
			Test: "TestRetentionArchivesAndRemoves",
		},
	}
}

// callMutants are faults in calls.
func callMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "every call is the first attempt", File: "coord/run_call.go", Pkg: engine,
			Old:  "Attempt: t.Op(s).Calls + 1,",
			New:  "Attempt: 1,",
			Test: "TestCallsSayWhoseTheyAre",
		},
		{
			Name: "calls do not carry the epoch of their owner", File: "coord/run_call.go", Pkg: engine,
			Old:  "Epoch: t.Epoch,",
			New:  "Epoch: 1,",
			Test: "TestCallsSayWhoseTheyAre",
		},
		{
			Name: "an error counts as an outage of the target", File: "coord/run_function.go", Pkg: engine,
			Old:  "Down: ctx.Err() != nil, Lasting",
			New:  "Down: true, Lasting",
			Test: "TestAnErrorIsNoOutage",
		},
		{
			Name: "a panic ends the coordinator", File: "coord/run_dispatch.go", Pkg: engine,
			Old:  "if p := recover(); p != nil {",
			New:  "if p := any(nil); p != nil {",
			Test: "TestAPanicIsAFailure",
		},
		{
			Name: "a function that does not end is waited for", File: "coord/run_flight.go", Pkg: engine,
			Old:  "return now.Add(f.limit + grace)",
			New:  "return now.Add(1000 * f.limit)",
			Test: "TestAFunctionThatDoesNotEnd",
		},
		{
			Name: "a call that is broken off counts as a failure", File: "coord/run_dispatch.go", Pkg: engine,
			Old: "return txn.Answer{Kind: txn.AnswerPending, BrokenOff: true, After: time.Millisecond, Note: " +
				"\"broken off\"}",
			New:  "return txn.Answer{Kind: txn.AnswerFailed, Note: \"broken off\"}",
			Test: "TestACallBrokenOffUsesNoAttempt",
		},
		{
			Name: "calls to one target have no bound", File: "coord/internal/lanes/lanes.go", Pkg: engine,
			Old:  "slots: make(chan struct{}, ls.perTarget)",
			New:  "slots: make(chan struct{}, 1000*ls.perTarget)",
			Test: "TestCallsToATargetAreBounded",
		},
		{
			Name: "a large result is kept", File: "coord/run_dispatch.go", Pkg: engine,
			Old:  "	c.trimResult(&a.Answer)\n",
			New:  "",
			Test: "TestALargeResultIsNotKept",
		},
	}
}

// definitionMutants are faults in what is accepted.
func definitionMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "other content under the same ID is accepted", File: "coord/submit_write.go", Pkg: engine,
			Old:  "stored.Digest != rec.Digest || ",
			New:  "",
			Test: "TestSubmitIsIdempotent",
		},
		{
			Name: "a second submit does not wait for the first", File: "coord/submit.go", Pkg: engine,
			Old:  "	case <-other.begun:\n",
			New:  "	default:\n		return nil\n",
			Test: "TestSubmittedBesideOtherContent",
		},
		{
			Name: "a submit that was refused is in doubt", File: "coord/submit.go", Pkg: engine,
			Old:  "errors.AsType[*txn.InDoubtError](err); ok {",
			New:  "errors.AsType[*txn.InDoubtError](err); ok || err != nil {",
			Test: "TestARefusedSubmitIsNotInDoubt",
		},
		{
			Name: "a target that may not be called is accepted", File: "coord/submit_check.go", Pkg: engine,
			Old:  "		return c.callers[scheme].Check(t)\n",
			New:  "		return nil\n",
			Test: "TestTargetsThatMayNotBeCalled",
		},
		{
			Name: "hooks are accepted unseen", File: "coord/submit_check.go", Pkg: engine,
			Old:  "{\"policy.hook\", hook}",
			New:  "{\"policy.hook\", hook[:0]}",
			Test: "TestTargetsThatMayNotBeCalled",
		},
		{
			Name: "a topic without subscribers is left out", File: "coord/submit_topics.go", Pkg: engine,
			Old:  "if len(receivers) == 0 {",
			New:  "if len(receivers) < 0 {",
			Test: "TestATopicWithoutSubscribersIsRefused",
		},
		{
			Name: "a result that is missing is left out", File: "coord/run_payload.go", Pkg: engine,
			Old:  "case s.Phase == txn.PhaseDo && ",
			New:  "case s.Phase == txn.PhaseHook && ",
			Test: "TestAMissingResultStopsTheSaga",
		},
		{
			Name: "two assured branches are one message", File: "coord/run_async.go", Pkg: engine,
			Old:  "call.Transaction + \"\\n\" + call.Branch + \"\\n\" + call.Op",
			New:  "call.Transaction + \"\\n\" + call.Op",
			Test: "TestEveryAssuredBranchIsDelivered",
		},
	}
}
