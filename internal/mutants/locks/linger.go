package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// lingeringMutants are faults in what clients are told of their grants, and in letting locks linger.
func lingeringMutants() []mutants.Mutant {
	return append(lingeringFrontMutants(), lingeringRedisMutants()...)
}

func lingeringFrontMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a lock that lingers is kept from who wants it", File: "lock/linger.go", Pkg: front,
			Old: "	h.lingering.wanted = true\n	h.endLinger()\n", New: "	h.lingering.wanted = true\n",
			Test: "TestALingeringLockIsLetGo",
		},
		{
			Name: "that somebody wants a lock is forgotten", File: "lock/linger.go", Pkg: front,
			Old: "	h.lingering.wanted = true\n", New: "", Test: "TestALockInUseIsGivenBackToWhoWantsIt",
		},
		{
			Name: "that somebody wants a lock comes too early", File: "lock/hold.go", Pkg: front,
			Old: "		h.lingering.wanted = h.q.wasTold(driver.Wanted)\n", New: "",
			Test: "TestWantedWhileItIsGranted",
		},
		{
			Name: "a lock comes back that may be wanted", File: "lock/linger.go", Pkg: front,
			Old: " || h.lingering.missed != t.client.missed.Load()", New: "", Test: "TestWhatMayBeWantedUnheard",
		},
		{
			Name: "a lock comes back that has run out", File: "lock/linger.go", Pkg: front,
			Old: "h.expired(now) || now >= h.lingersUntil()", New: "now < 0", Test: "TestALeaseOutlivesItsLinger",
		},
		{
			Name: "a lock comes back for who wants another", File: "lock/linger.go", Pkg: front,
			Old: " || *h.want != *w", New: "", Test: "TestALockLingersForOthersToo",
		},
		{
			Name: "a lock lingers for ever", File: "lock/linger.go", Pkg: front,
			Old:  "min(h.lingering.left+h.q.client.opts.Linger, h.since+longestLinger)",
			New:  "h.lingering.left + h.q.client.opts.Linger",
			Test: "TestALockLingersNoLongerInAll",
		},
		{
			Name: "lingering uses tokens it has not reserved", File: "lock/linger.go", Pkg: front,
			Old: " || !h.hasToken()", New: "", Test: "TestWhatLingersIsGivenBackBeforeItsTokensAreUsedUp",
		},
		{
			Name: "everything lingers", File: "lock/linger.go", Pkg: front,
			Old: " || !q.habit.comesBack(c.now())", New: "", Test: "TestOnlyWhatComesBackLingers",
		},
		{
			Name: "that a lock was taken away comes too early", File: "lock/hold.go", Pkg: front,
			Old: "	case h.q.wasTold(driver.Taken):\n		return errTakenAtOnce\n", New: "",
			Test: "TestTakenWhileItIsGranted",
		},
		{
			Name: "lingering switches hand-off on", File: "lock/handoff.go", Pkg: front,
			Old: " && h.mayPassOn()", New: "", Test: "TestLingerSwitchesHandOffOn",
		},
		{
			Name: "who tries is refused by what was left", File: "lock/queue.go", Pkg: front,
			Old: "	case try && !q.isVacated():\n", New: "	case try && q.lingering() == nil:\n",
			Test: "TestTryLockWhileWhatLingeredIsGivenBack",
		},
		{
			Name: "who tries waits for who waits", File: "lock/linger.go", Pkg: front,
			Old: " && q.waiters.first == nil && (", New: " && (", Test: "TestTryLockBehindWhoWaitsForWhatLingered",
		},
		{
			Name: "who is refused is expected back", File: "lock/acquire_contest.go", Pkg: front,
			Old: "		k.q.habit.enterShared(k.q.client.now())\n", New: "", Test: "TestWhatIsRefusedDoesNotComeBack",
		},
		{
			Name: "what lingered is given back unseen", File: "lock/linger.go", Pkg: front,
			Old: "c.finishLater(h.grant.Name, func() {", New: "c.work.Go(func() {", Test: "TestStopTellsWhatLingered",
		},
		{
			Name: "a stopped client keeps what lingers", File: "lock/queues.go", Pkg: front,
			Old: "h.state == possessed || h.state == lingers {", New: "h.state == possessed {",
			Test: "TestStopGivesBackWhatLingers",
		},
		{
			Name: "a late message takes another lease", File: "lock/messages.go", Pkg: front,
			Old: "h := p.holdOf(m.Name, m.Owner); {", New: "h := p.byName[m.Name].holds.first; {",
			Test: "TestTakenIsToldLate",
		},
	}
}

func lingeringRedisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: who lingers is not told", File: scripts + "acquire_held.lua", Pkg: redis,
			Old: "    recall(lock, about)\n", New: "", Test: "TestConformanceStandalone/goredis/RecallIsUnheard",
		},
		{
			Name: "redis: a lock lingers unheard", File: "lock/redislock/inbox.go", Pkg: redis,
			Old: " || !b.inbox.attends(req.Owner)", New: "", Test: "TestWhoMayNotListen",
		},
		{
			Name: "redis: a connection that brings nothing is kept", File: "lock/redislock/stand.go", Pkg: redis,
			Old: "		hears.awaitMessage()\n", New: "", Test: "TestSilentSubscriptionIsKept/goredis",
		},
		{
			Name: "redis: force is not told", File: scripts + "force.lua", Pkg: redis,
			Old: "local former = ownersOf(lock, kind)\n", New: "local former = {}\n",
			Test: "TestALockTakenAwayIsToldAtOnce",
		},
	}
}
