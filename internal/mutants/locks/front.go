package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

// allMutants lists the mutants.
func allMutants() []mutants.Mutant {
	return slices.Concat(
		contestMutants(), silenceMutants(), leaseMutants(), reasonMutants(), queueMutants(), storeMutants(),
		redisMutants(), doubtMutants(), backlogMutants(),
		passingMutants(), passingServerMutants(), lingeringMutants(), kindMutants(), fairMutants(), voteMutants(),
		togetherMutants(),
		quorumMutants(), lateMutants(), combinationMutants(), electionMutants(), latchMutants(),
		etcdMutants(), zookeeperMutants(),
		plainRedisMutants(), pleadingRedisMutants(), multiMutants(), bundleMutants(), bundleMemoryMutants(),
		circleMutants(), pleaMutants(), guardMutants(), guardTableMutants(), guardColumnMutants(),
		guardRedisMutants(), guardServiceMutants(), interopMutants(),
		ledgerMutants(), fileMutants(), serverMutants(), serveMutants(), shedLockMutants(), sessionMutants(),
		foundMutants(), countedMutants())
}

// inMemory names a behaviour of the conformance suite on memory, in virtual time.
func inMemory(behaviour string) string { return "TestConformanceInVirtualTime/" + behaviour }

const (
	front  = "lock"
	memory = "lock/memlock"
)

// contestMutants are faults in asking the backend and cleaning up after it.
func contestMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "the deadline counts from the reply", File: "lock/acquire_contest.go", Pkg: memory,
			Old:  "k.acceptGrant(ctx, parent, grant, k.sent, grant.TTL)",
			New:  "k.acceptGrant(ctx, parent, grant, c.now(), grant.TTL)",
			Test: inMemory("LossComesAfterTheNextGrant"),
		},
		{
			Name: "a retry comes under a new owner", File: "lock/acquire_contest.go", Pkg: memory,
			Old:  "	k.sent = c.now()\n",
			New:  "	k.sent = c.now()\n	k.req.Owner = c.newOwner()\n",
			Test: inMemory("LostReplyBlocksItsOwnRetry"),
		},
		{
			Name: "the waiter does not look again after it subscribed", File: "lock/acquire_wait.go", Pkg: front,
			Old: "		k.q.listens() // if a watch has begun meanwhile, the next request comes after it\n",
			New: "		if err == nil && k.q.listens() {\n" +
				"			return k.pauseFor(ctx, left+time.Millisecond, k.q.watch.C())\n		}\n",
			Test: "TestAReleaseBeforeListeningBeginsIsNotMissed",
		},
		{
			Name: "an unknown acquire is not cleaned up after", File: "lock/acquire_contest.go", Pkg: memory,
			Old:  "	if k.doubt != nil || k.waited {\n",
			New:  "	if k.doubt != nil && k.deaf != nil || k.waited {\n",
			Test: inMemory("LostReplyLeavesALock"),
		},
		{
			Name: "a refusal answers for a request under way", File: "internal/settle/doubt.go", Pkg: front,
			Old:  "		d.quiet = d.Ended()\n",
			New:  "		d.quiet = true\n",
			Test: "TestARequestUnderWayIsForgotten",
		},
		{
			Name: "an owner given up leaves no doubt", File: "lock/acquire_contest.go", Pkg: front,
			Old:  "k.doubt.Resolved() && !k.givingBack()",
			New:  "k.doubt.Resolved()",
			Test: "TestARequestUnderWayIsForgotten",
		},
		{
			Name: "what another goroutine of the process holds counts as ours", File: "lock/acquire_limit.go",
			Pkg: memory,
			Old: "	grant, err := k.makeRequest(call)\n",
			New: "	grant, err := k.makeRequest(call)\n" +
				"	id := k.q.client.id\n" +
				"	if h, ok := errors.AsType[*driver.HeldError](err); ok && h.Owner[:len(id)] == id {\n" +
				"		grant, err = driver.Grant{Name: k.req.Name, Owner: h.Owner, TTL: k.req.TTL, Token: 1, " +
				"Tokens: 1}, nil\n" +
				"	}\n",
			Test: inMemory("MinHoldEndsEarly"),
		},
		{
			Name: "clean-up releases by name", File: "internal/settle/settle.go", Pkg: memory,
			Old:  "	_, err := s.Backend.Release(ctx, g)\n",
			New:  "	_, err := s.Backend.(driver.Forcer).ForceRelease(ctx, g.Name)\n",
			Test: inMemory("CleanUpFreesTheNextHolder"),
		},
		{
			Name: "clean-up believes the first miss", File: "internal/settle/settle.go", Pkg: memory,
			Old: "	return 2\n", New: "	return 1\n",
			Test: inMemory("LateRequestLeavesALock"),
		},
		{
			Name: "clean-up does not wait for the request's end", File: "internal/settle/settle.go", Pkg: memory,
			Old: "ended := d.Ended()", New: "ended := true",
			Test: inMemory("RequestUnderWayLeavesALock"),
		},
		{
			Name: "an unknown release is not repeated", File: "lock/release.go", Pkg: memory,
			Old: "unsure || h.doubt != nil", New: "h.doubt != nil",
			Test: inMemory("LostUnlockLeavesALock"),
		},
		{
			Name: "a refused release is taken for an unclear one", File: "lock/release.go", Pkg: front,
			Old: "	case isRefusal(err):\n", New: "	case isRefusal(err) && !unsure:\n",
			Test: "TestARefusedReleaseIsTakenForAnUnclearOne",
		},
	}
}

// silenceMutants are faults in telling a held lock from a backend that says nothing.
func silenceMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "who comes to the front has forgotten why it waited", File: "lock/acquire_contest.go", Pkg: front,
			Old: "	case why == nil && k.behind:\n", New: "	case why == nil && k.behind && k.try:\n",
			Test: "TestWhoHasWaitedInTheQueueIsToldThatItIsHeld",
		},
		{
			Name: "silence is taken for a refusal", File: "lock/acquire_contest.go", Pkg: front,
			Old: "	switch why := k.knownStill(); {\n", New: "	switch why := k.whyNot(); {\n",
			Test: "TestWhoWaitsForASilentBackendKnowsNothing",
		},
		{
			Name: "who waits behind silence is refused", File: "lock/queue.go", Pkg: front,
			Old: "	return q.unlessSilent(q.why, came)\n", New: "	return q.why\n",
			Test: "TestWhoWaitsForASilentBackendKnowsNothing",
		},
	}
}

// leaseMutants are faults in leases and their renewal.
func leaseMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "the client counts tokens", File: "lock/hold.go", Pkg: memory,
			Old:  "h.first.start(parent, h, grant.Token)",
			New:  "h.first.start(parent, h, q.client.owners.Load())",
			Test: inMemory("TokenGoesBack"),
		},
		{
			Name: "a grant counts however late it arrives", File: "lock/hold.go", Pkg: memory,
			Old:  "	case h.expired(h.since):\n		return errTooLate\n",
			New:  "",
			Test: inMemory("LateGrantIsUsed"),
		},
		{
			Name: "the minimum hold time is ignored", File: "lock/release.go", Pkg: memory,
			Old: "rest > 0", New: "rest < 0",
			Test: inMemory("MinHoldEndsEarly"),
		},
		{
			Name: "the deadline has no margin", File: "lock/hold.go", Pkg: memory,
			Old: " - margin(life)", New: "",
			Test: inMemory("LossLeavesNoMargin"),
		},
		{
			Name: "renewal goes on after unlock", File: "lock/release.go", Pkg: memory,
			Old:  "	h.q.client.renewer.remove(h)\n	bounded, cancel",
			New:  "	bounded, cancel",
			Test: inMemory("RenewalSurvivesUnlock"),
		},
		{
			Name: "the deadline counts from the reply to a renewal", File: "lock/renew_lane.go", Pkg: memory,
			Old: "r.recordRenewal(h, sent, errs[i])", New: "r.recordRenewal(h, now, errs[i])",
			Test: inMemory("SlowRenewalDelaysTheLoss"),
		},
		{
			Name: "renewal stops at the first error", File: "lock/renew.go", Pkg: memory,
			Old: "r.schedule(h, r.client.now()+r.retryAfter(h.grant.TTL))", New: "r.schedule(h, never)",
			Test: inMemory("RenewalStopsAtTheFirstError"),
		},
		{
			Name: "a fixed lease is renewed", File: "lock/mutex.go", Pkg: memory,
			Old: "opts.Wait, opts.Fixed, opts.MinHold", New: "opts.Wait, false, opts.MinHold",
			Test: inMemory("FixedLeaseIsRenewed"),
		},
		{
			Name: "a loss found by a renewal is not told", File: "lock/renew.go", Pkg: memory,
			Old: "		return taken\n", New: "		return asBefore\n",
			Test: inMemory("LossStaysSilent"),
		},
		{
			Name: "re-entry does not look at the client", File: "lock/reentry.go", Pkg: memory,
			Old: "l.hold.q.client == m.client && ", New: "",
			Test: inMemory("StrangerReenters"),
		},
	}
}

// queueMutants are faults among the goroutines of one process.
func queueMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "hand-off repeats the token", File: "lock/handoff.go", Pkg: memory,
			Old: "next.ctx, h, h.lease.token+1)", New: "next.ctx, h, h.lease.token)",
			Test: inMemory("TokenIsHandedOnTwice"),
		},
		{
			Name: "hand-off uses tokens it has not reserved", File: "lock/handoff.go", Pkg: memory,
			Old: "return h.hasToken() && ", New: "return ",
			Test: inMemory("TokenIsHandedOnTwice"),
		},
		{
			Name: "the inner unlock releases", File: "lock/release.go", Pkg: memory,
			Old: "l.root.entered > 0 || h.passOn(now)", New: "h.passOn(now)",
			Test: inMemory("ReentryFreesTheLockEarly"),
		},
		{
			Name: "a cancelled waiter keeps its turn", File: "lock/queue.go", Pkg: memory,
			Old:  "		q.decline(<-w.turn)\n",
			New:  "		<-w.turn\n",
			Test: inMemory("CancelledWaiterTakesTheTurn"),
		},
		{
			Name: "a second go counts for somebody else", File: "lock/share.go", Pkg: front,
			Old: "s.gone-s.seen.again-s.came", New: "s.gone-s.came",
			Test: "TestOneFurtherAwayThanManyIsNotStarved",
		},
		{
			Name: "strangers are passed over", File: "lock/share_company.go", Pkg: front,
			Old: "strangers := others - c.met()", New: "strangers := 0",
			Test: "TestOneFurtherAwayThanManyWhoAreQuickIsNotStarved",
		},
		{
			Name: "close leaves what is held", File: "lock/stop.go", Pkg: memory,
			Old:  "c.releaseAll(ctx, c.queues.close())",
			New:  "c.releaseAll(ctx, c.queues.close()[:0])",
			Test: inMemory("CloseLeavesAGrant"),
		},
		{
			Name: "control characters pass", File: "lock/driver/limits.go", Pkg: memory,
			Old:  "strings.IndexFunc(text, unicode.IsControl); i >= 0 {",
			New:  "strings.IndexFunc(text, unicode.IsControl); i > len(text) {",
			Test: inMemory("BadNameReachesTheStore"),
		},
	}
}
