package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

// kindMutants are faults in read-write locks, semaphores and the longest hold.
func kindMutants() []mutants.Mutant {
	return slices.Concat(
		kindFrontMutants(), sideMutants(), turnMutants(), kindServerMutants(), crowdMutants(),
		kindRedisMutants(), sharingRedisMutants(), permitRedisMutants(),
	)
}

func kindFrontMutants() []mutants.Mutant {
	return slices.Concat(asideMutants(), modeMutants(), maxHoldMutants())
}

// asideMutants are faults in what several have at once.
func asideMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "who has what several may have keeps the front", File: "lock/queue_shared.go", Pkg: front,
			Old:  "	if !h.aside {\n		return\n	}\n	q.part.mu.Lock()\n	if h.want",
			New:  "	if h.aside {\n		return\n	}\n	q.part.mu.Lock()\n	if h.want",
			Test: "TestASemaphoreHasSoManyPermits",
		},
		{
			Name: "readers join who waits for a writer", File: "lock/queue_shared.go", Pkg: front,
			Old: "	if q == nil || p.closed || q.fronted && !q.isRead() {", New: "	if q == nil || p.closed {",
			Test: "TestAReaderPassesTheWriterOfItsOwnProcess",
		},
		{
			Name: "readers join for ever", File: "lock/queue_shared.go", Pkg: front,
			Old: " && now-h.since < t.client.opts.HandOff.Time {", New: " {",
			Test: "TestAWriterIsStarvedByReaders",
		},
		{
			Name: "readers behind a writer come one by one", File: "lock/queue_shared.go", Pkg: front,
			Old:  "		h.joinWaiting()\n",
			New:  "",
			Test: "TestReadersOfAProcessBehindAWriterComeTogether",
		},
	}
}

// modeMutants are faults in who may have what.
func modeMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a reader may ask to write", File: "lock/reentry.go", Pkg: front,
			Old:  "	case driver.Shared:\n		return other",
			New:  "	case driver.Exclusive:\n		return other",
			Test: "TestAReaderThatAsksToWriteWouldWaitForItself",
		},
		{
			Name: "a semaphore is re-entered", File: "lock/reentry.go", Pkg: front,
			Old:  "	if m.want.mode == driver.Permit {",
			New:  "	if m.want.mode == driver.Exclusive {",
			Test: "TestASemaphoreIsNotReentered",
		},
		{
			Name: "an upgrade waits behind who waits for it", File: "lock/rwmutex.go", Pkg: front,
			Old:  "	writing, err := m.lockOver(ctx, ctx, l.Owner())\n",
			New:  "	writing, err := m.lockOver(ctx, ctx, \"\")\n",
			Test: "TestAnUpgradeWritesOverItsOwnReader",
		},
		{
			Name: "a downgrade gives the lock back first", File: "lock/rwmutex.go", Pkg: front,
			Old:  "	reading, err := m.client.acquire(ctx, l.outlivedBy(ctx), &m.want, l.Owner(), true)\n",
			New:  "	_ = l.Unlock(ctx)\n	reading, err := m.client.acquire(ctx, ctx, &m.want, \"\", false)\n",
			Test: "TestADowngradeLetsNoWriterIn",
		},
		{
			Name: "a writer that waits does not say so", File: "lock/acquire_contest.go", Pkg: front,
			Old: "q.overOwner(), !try && w.saysThatItWaits()", New: "q.overOwner(), false",
			Test: "TestAWriterIsStarvedByReaders",
		},
		{
			Name: "a writer that gives up keeps its claim", File: "lock/acquire_contest.go", Pkg: front,
			Old: "	if k.doubt != nil || k.waited {", New: "	if k.doubt != nil {",
			Test: "TestAWriterThatGivesUpKeepsReadersOff",
		},
		{
			Name: "a writer that waits does not ask again in time", File: "lock/acquire_wait.go", Pkg: front,
			Old:  "	return min(pause, driver.PauseFor(k.again))\n",
			New:  "	return pause\n",
			Test: "TestAWriterWaitsForLongerThanItsClaim",
		},
	}
}

// maxHoldMutants are faults in the longest hold.
func maxHoldMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a lease goes on beyond its longest hold", File: "lock/maxhold.go", Pkg: front,
			Old: "	return min(at, h.end)\n", New: "	return at\n", Test: "TestMaxHoldTakesTheLockAway",
		},
		{
			Name: "a lease ends before its longest hold", File: "lock/maxhold.go", Pkg: front,
			Old: "{ return d + d/40 + 25*time.Millisecond }",
			New: "{ return d }", Test: "TestMaxHoldShorterThanTheTTL",
		},
		{
			Name: "nobody is warned of the longest hold", File: "lock/renew.go", Pkg: front,
			Old: "		if h.dueToWarn(now) {",
			New: "		if h.dueToWarn(now) && h.want.fixed {", Test: "TestMaxHoldTakesTheLockAway",
		},
		{
			Name: "kinds of one process meet", File: "lock/queue.go", Pkg: front,
			Old: "	case q.kind != w.mode.Kind():",
			New: "	case q.kind > driver.Semaphore:", Test: "TestKindsOfOneNameAreRefused",
		},
	}
}
