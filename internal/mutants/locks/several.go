package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// several is where what locks on several stores have in common is.
const several = "internal/several/"

// quorumMutants are faults in locks that a majority of stores votes for.
func quorumMutants() []mutants.Mutant {
	const votes = "lock/quorum"
	return []mutants.Mutant{
		{
			Name: "quorum: a node without a vote is taken", File: several + "voters.go", Pkg: votes,
			Old: "n.WhyNoVote() != \"\" {", New: "n.WhyNoVote() == \"\" {", Test: "TestNodeWithoutAVoteIsTaken",
		},
		{
			Name: "quorum: the lowest token of a majority counts", File: several + "tokens.go", Pkg: votes,
			Old: "first = max(first, grants[i].Token)", New: "first = min(max(first, 1), grants[i].Token)",
			Test: "TestNextMajorityGivesALowerToken",
		},
		{
			Name: "quorum: a young node votes", File: votes + "/options.go", Pkg: votes,
			Old: "	return max(s.Quarantine, ttl)\n", New: "	return min(s.Quarantine, ttl, 0)\n",
			Test: "TestYoungNodesVote",
		},
		{
			Name: "quorum: a short quarantine is enough for a long lock", File: votes + "/options.go", Pkg: votes,
			Old: "	return max(s.Quarantine, ttl)\n", New: "	return s.Quarantine\n", Test: "TestYoungNodesVote",
		},
		{
			Name: "quorum: the surplus is forgotten", File: votes + "/options.go", Pkg: votes,
			Old: "max(s.Majority, s.keep+s.Surplus)", New: "s.Majority", Test: "TestGrantWithoutItsSurplus",
		},
		{
			Name: "quorum: a vote too few keeps a grant", File: votes + "/options.go", Pkg: votes,
			Old: "s.keep = nodes - s.Majority + 1", New: "s.keep = nodes - s.Majority",
			Test: "TestForgottenGrantIsBelievedIn",
		},
		{
			Name: "quorum: one vote that was renewed is enough", File: several + "renew.go", Pkg: votes,
			Old: "	case c.kept >= keep:\n		return nil\n", New: "	case c.kept > 0:\n		return nil\n",
			Test: "TestForgottenGrantIsBelievedIn",
		},
		{
			Name: "quorum: votes of who was refused stay", File: votes + "/acquire.go", Pkg: votes,
			Old: "	if e.ballot.GiveBack(ctx) {\n", New: "	if false {\n", Test: "TestFailedRequestLeavesAVote",
		},
		{
			Name: "quorum: missing votes are not asked for soon", File: several + "seek.go", Pkg: votes,
			Old:  "	b.stores.work.Go(func() {\n		defer b.endSeeking()\n",
			New:  "	b.stores.work.Go(func() {\n		b.endSeeking()\n		return\n",
			Test: "TestMissingVotesAreForgotten",
		},
		{
			Name: "quorum: missing votes are not asked for with a renewal", File: several + "seek.go", Pkg: votes,
			Old: "	defer b.endSeeking()\n	b.seek()\n", New: "	b.endSeeking()\n",
			Test: "TestMissingVotesAreForgotten",
		},
		{
			Name: "quorum: a late refusal is an outage", File: votes + "/tally.go", Pkg: votes,
			Old: "	return len(t.held) > 0 && !t.isHeld() &&", New: "	return false &&",
			Test: "TestLateRefusalIsNoOutage",
		},
		{
			Name: "quorum: one store has two votes", File: several + "identity.go", Pkg: votes,
			Old: "if other != n && known.who == who {\n", New: "if other != n && known.who == \"\" {\n",
			Test: "TestTwoNodesAreOneStore",
		},
		{
			Name: "quorum: a store that was started again has two votes", File: several + "identity.go", Pkg: votes,
			Old: "		s.refreshIdentities(ctx, n)\n", New: "",
			Test: "TestStoreThatIsStartedAgainHasTwoVotes",
		},
		{
			Name: "quorum: a fresh node's vote makes a repeated request a new one", File: several + "ballot.go",
			Pkg: votes,
			Old: "		return g, err == nil && g.Token == req.Above+1, err\n", New: "		return g, false, err\n",
			Test: "TestRepeatedRequestHasOtherTokens",
		},
	}
}

// lateMutants are faults in what a majority of stores does with answers and requests that are late, or lost.
func lateMutants() []mutants.Mutant {
	const votes = "lock/quorum"
	return []mutants.Mutant{
		{
			Name: "quorum: a refusal waits for releases that hang", File: several + "release.go", Pkg: votes,
			Old: "const longestGiveBack = 100 * time.Millisecond", New: "const longestGiveBack = time.Hour",
			Test: "TestRefusalWaitsForAReleaseThatHangs",
		},
		{
			Name: "quorum: votes are sought that are just taken away", File: several + "seek.go", Pkg: votes,
			Old: "now < b.shaken", New: "false", Test: "TestForcedReleaseIsUndone",
		},
		{
			Name: "quorum: enough votes are sought at once to keep others out", File: several + "seek.go", Pkg: votes,
			Old: "max(s.rules.Keep-1, 1)", New: "len(s.Nodes)", Test: "TestForcedReleaseIsUndoneByADeafVictim",
		},
		{
			Name: "quorum: a forced release does not look who asks again", File: several + "force.go", Pkg: votes,
			Old:  "return a.Value.held }) {\n			return held, nil",
			New:  "return a.Value.held }) || !held {\n			return len(answers) > 0, nil",
			Test: "TestForcedReleaseIsUndoneWhereItFoundNothing",
		},
		{
			Name: "quorum: what is taken away before it is a grant is one", File: several + "ballot.go", Pkg: votes,
			Old: "if b.wasTakenEarly() {", New: "if b.wasTakenEarly() && false {",
			Test: "TestForcedReleaseIsForgottenByTheGrant",
		},
		{
			Name: "quorum: an answer older than a forced release counts", File: several + "ballot.go", Pkg: votes,
			Old: "case err == nil && v.taken:", New: "case err == nil && v.taken && false:",
			Test: "TestForcedReleaseIsForgottenByTheGrant",
		},
		{
			Name: "quorum: a forced release leaves slow nodes behind", File: several + "force.go", Pkg: votes,
			Old: "each(ctx, s, least, longestSilence, forced", New: "each(ctx, s, least, 0, forced",
			Test: "TestForcedReleaseHitsTheNextHolder",
		},
		{
			Name: "quorum: a vote counts that comes too late", File: several + "seek.go", Pkg: votes,
			Old: "		if err == nil && !b.isSure() {", New: "		if err == nil && !b.isSure() && b.isOver() {",
			Test: "TestRevivedByLateVotes",
		},
		{
			Name: "quorum: a debt that cannot be paid stands before all others", File: several + "owed.go", Pkg: votes,
			Old: "	o.delay(d, now+min(firstDebt<<min(d.fails, 10), longPause))\n", New: "	_ = now\n",
			Test: "TestDebtThatFailsStandsBeforeAllOthers",
		},
		{
			Name: "quorum: nodes that have missed a cut keep the lock", File: several + "renew.go", Pkg: votes,
			Old: "	case err != nil:\n		b.oweEnd(n, now)\n	}\n", New: "	}\n", Test: "TestCutMissesNodes",
		},
		{
			Name: "quorum: a late renewal outlives a cut", File: several + "renew.go", Pkg: votes,
			Old: "		b.cutAgain(ctx, n, now)\n", New: "", Test: "TestLateRenewalUndoesACut",
		},
	}
}

// combinationMutants are faults in locks that are taken at one store after the other.
func combinationMutants() []mutants.Mutant {
	const dials = "lock/combination"
	return []mutants.Mutant{
		{
			Name: "several: why a node has lost a grant is forgotten", File: several + "messages.go", Pkg: dials,
			Old: "	b.takenWhy = why\n", New: "	_ = why\n", Test: "TestGrantThatEndsIsTakenByForce",
		},
		{
			Name: "combination: who is refused keeps what was taken", File: dials + "/acquire.go", Pkg: dials,
			Old: "		if w.ballot.Has(n) && ctx.Err() == nil {\n", New: "		if false {\n",
			Test: "TestRefusedKeepsWhatItHas",
		},
		{
			Name: "combination: given back everywhere at once", File: dials + "/acquire.go", Pkg: dials,
			Old:  "	others.Wait()\n	if len(nodes) > 0 {\n		release(0)\n	}\n",
			New:  "	if len(nodes) > 0 {\n		release(0)\n	}\n	others.Wait()\n",
			Test: "TestNodesAreAskedInAnotherOrder",
		},
		{
			Name: "combination: given back where others meet it", File: dials + "/acquire.go", Pkg: dials,
			Old: "held = halfDone(err)", New: "_ = halfDone(err)", Test: "TestUnlockedAtANodeThatOthersReach",
		},
		{
			Name: "combination: a walk may take for ever", File: dials + "/acquire.go", Pkg: dials,
			Old: "spent > w.AcquireTimeout", New: "spent > 1000*w.AcquireTimeout", Test: "TestSlowWalkIsGranted",
		},
		{
			Name: "combination: one node has the tokens", File: dials + "/acquire.go", Pkg: dials,
			Old: "w.stores.Agree(w.grants, len(w.grants))", New: "w.stores.Agree(w.grants, 1)",
			Test: "TestTokenGoesBackWithOtherNodes",
		},
		{
			Name: "combination: a node that answers late is back", File: dials + "/combination.go", Pkg: dials,
			Old: "OnlyPings: true, ", New: "", Test: "TestNodeThatIsLateIsBack",
		},
		{
			Name: "combination: a caller who leaves puts a node away", File: several + "ballot.go", Pkg: dials,
			Old: "	n.heardIn(ctx, err)\n", New: "	n.Heard(err)\n", Test: "TestCallerWhoLeavesPutsANodeAway",
		},
		{
			Name: "combination: a late request stays after the release", File: several + "ballot.go", Pkg: dials,
			Old: "v.state, v.late = cmp.Or(v.state, unsure), true", New: "v.state = cmp.Or(v.state, unsure)",
			Test: "TestLateRequestForAHigherTokenOutlivesTheRelease",
		},
		{
			Name: "combination: a node that has missed a cut keeps the lock", File: several + "renew.go", Pkg: dials,
			Old: "	case err != nil:\n		b.oweEnd(n, now)\n	}\n", New: "	}\n", Test: "TestCutMissesANode",
		},
		{
			Name: "combination: a lock taken away at one node is held", File: dials + "/combination.go", Pkg: dials,
			Old: "TakenAtOnce: true, ", New: "", Test: "TestForcedReleaseMissesANode",
		},
		{
			Name: "combination: a forced release leaves out whom nobody has asked yet",
			File: dials + "/combination.go", Pkg: dials,
			Old: "longestMeeting = time.Second", New: "longestMeeting = 5 * time.Millisecond",
			Test: "TestForcedReleaseOfANewClient",
		},
		{
			Name: "combination: a renewal does not look who is back", File: several + "renew.go", Pkg: dials,
			Old: "	s.PingInBackground()\n", New: "", Test: "TestLostThoughTwoNodesHaveIt",
		},
		{
			Name: "combination: who was refused waits for nodes that hang", File: several + "watched.go", Pkg: dials,
			Old: "		w.probeRefusing()\n", New: "", Test: "TestRefusingNodeHangsAtTheRelease",
		},
		{
			Name: "combination: a holder gives way to anybody", File: several + "seek.go", Pkg: dials,
			Old: ` || owner == ""`, New: "", Test: "TestGivesWayToWhoPassesBy",
		},
		{
			Name: "combination: a holder gives way to nobody", File: dials + "/combination.go", Pkg: dials,
			Old: "Yield: 2 * filled.AcquireTimeout, ", New: "", Test: "TestGivesWayToTheDead",
		},
	}
}
