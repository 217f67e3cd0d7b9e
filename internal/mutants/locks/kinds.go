package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

// kindMutants are faults in read-write locks, semaphores and the longest hold.
func kindMutants() []mutants.Mutant {
	return slices.Concat(kindFrontMutants(), crowdMutants(), kindRedisMutants(), permitRedisMutants())
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
			Old: "	if q == nil || q.fronted || p.closed {", New: "	if q == nil || p.closed {",
			Test: "TestAReaderPassesTheWriterOfItsOwnProcess",
		},
		{
			Name: "readers join for ever", File: "lock/queue_shared.go", Pkg: front,
			Old: "now-h.since < t.client.opts.HandOff.Time && t.client", New: "t.client",
			Test: "TestAWriterIsStarvedByReaders",
		},
		{
			Name: "readers behind a writer come one by one", File: "lock/queue_shared.go", Pkg: front,
			Old:  "for next := q.waiters.first; next != nil && *next.want == *h.want; next = q.waiters.first {",
			New:  "for next := q.waiters.first; next == nil && h == nil; next = q.waiters.first {",
			Test: "TestReadersOfAProcessBehindAWriterComeTogether",
		},
		{
			Name: "tries of one process refuse each other", File: "lock/queue_shared.go", Pkg: front,
			Old:  "	if !w.hasCompany() {\n		return !q.isVacated()\n	}\n",
			New:  "	if w != nil {\n		return !q.isVacated()\n	}\n",
			Test: "TestTriesOfOneProcessRefuseEachOther",
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
			Old: "	return m.lockOver(ctx, l.Owner())\n", New: "	return m.lockOver(ctx, \"\")\n",
			Test: "TestAnUpgradeWritesOverItsOwnReader",
		},
		{
			Name: "a downgrade gives the lock back first", File: "lock/rwmutex.go", Pkg: front,
			Old:  "	reading, err := m.client.acquire(ctx, ctx, &m.want, l.Owner(), true)\n",
			New:  "	_ = l.Unlock(ctx)\n	reading, err := m.client.acquire(ctx, ctx, &m.want, \"\", false)\n",
			Test: "TestADowngradeLetsNoWriterIn",
		},
		{
			Name: "a writer that waits does not say so", File: "lock/acquire_contest.go", Pkg: front,
			Old: "q.over, !try && q.kind == driver.ReadWrite && w.role != humble", New: "q.over, false",
			Test: "TestAWriterIsStarvedByReaders",
		},
		{
			Name: "a writer that gives up keeps its claim", File: "lock/acquire_contest.go", Pkg: front,
			Old: "	if k.doubt != nil || k.waited {", New: "	if k.doubt != nil {",
			Test: "TestAWriterThatGivesUpKeepsReadersOff",
		},
		{
			Name: "a writer that waits does not ask again in time", File: "lock/acquire_wait.go", Pkg: front,
			Old:  "	return min(pause, time.Duration(standAgain*float64(k.again)))\n",
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

func crowdMutants() []mutants.Mutant {
	const crowd = "lock/memlock/crowd.go"
	return []mutants.Mutant{
		{
			Name: "kinds meet in the store", File: crowd, Pkg: memory,
			Old:  "	if c := s.liveCrowd(name); c != nil && c.kind != wanted {",
			New:  "	if c := s.liveCrowd(name); c != nil && false {",
			Test: inMemory("KindsMeet"),
		},
		{
			Name: "a reader does not see the writer", File: crowd, Pkg: memory,
			Old: "		return m.mode == driver.Write || req",
			New: "		return req", Test: inMemory("WriterMeetsAReader"),
		},
		{
			Name: "two readers may both become writers", File: crowd, Pkg: memory,
			Old: "|| req.Upgradeable && m.upgradeable", New: "", Test: inMemory("UpgradeableReadersMeet"),
		},
		{
			Name: "an upgrade needs no reader", File: crowd, Pkg: memory,
			Old:  "	if req.Over == \"\" {\n		return nil\n	}\n	m :=",
			New:  "	if req.Owner != \"\" {\n		return nil\n	}\n	m :=",
			Test: inMemory("UpgradeOverNobody"),
		},
		{
			Name: "a writer's claim never ends", File: crowd, Pkg: memory,
			Old: "	if !now.Before(c.writer.expires) {", New: "	if len(c.members) < 0 {",
			Test: inMemory("DeadWriterKeepsReadersOff"),
		},
		{
			Name: "readers have no go after a writer", File: crowd, Pkg: memory,
			Old: "	if c.readers.After(now) {",
			New: "	if len(c.members) < 0 {", Test: "TestReadersHaveTheirGo",
		},
		{
			Name: "a downgrade wakes nobody", File: crowd, Pkg: memory,
			Old:  "	return gone.mode != driver.Shared || gone",
			New:  "	return gone.mode == driver.Permit || gone",
			Test: inMemory("DowngradeWakesNobody"),
		},
		{
			Name: "there is a permit too many", File: crowd, Pkg: memory,
			Old: "taken+req.Permits <= req.Limit",
			New: "taken+req.Permits <= req.Limit+1", Test: inMemory("TooManyPermits"),
		},
	}
}

func kindRedisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: a mutex overwrites a read-write lock", File: scripts + "acquire.lua", Pkg: redis,
			Old: "  if about[4] == 'read' or about[4] == 'write' then\n",
			New: "  if false then\n", Test: onRedis("KindsMeet"),
		},
		{
			Name: "redis: a read-write lock overwrites a mutex", File: scripts + "kind.lua", Pkg: redis,
			Old: "and READWRITE or MUTEX", New: "and READWRITE or READWRITE", Test: onRedis("KindsMeet"),
		},
		{
			Name: "redis: the dead count as readers", File: scripts + "rw.lua", Pkg: redis,
			Old: "      if left > 0 then\n", New: "      left = math.max(left, 1)\n      if left > 0 then\n",
			Test: onRedis("DeadReaderIsKeptAliveByOthers"),
		},
		{
			Name: "redis: the lock ends with the reader that leaves", File: scripts + "rw_release.lua", Pkg: redis,
			Old: "  call('pexpire', lock, left)\n",
			New: "  call('del', lock)\n", Test: onRedis("ReleaseOfAReaderFreesOthers"),
		},
		{
			Name: "redis: a writer wakes one reader", File: scripts + "rw_release.lua", Pkg: redis,
			Old: "    return tellAll(channel)\n", New: "    return tell(channel, '0')\n",
			Test: "TestJavaAboutToSleepMissesAWriter",
		},
		{
			Name: "redis: who is about to sleep misses a writer", File: scripts + "tell.lua", Pkg: redis,
			Old: "  tell(channel, '00')\n", New: "", Test: "TestJavaAboutToSleepMissesAWriter",
		},
		{
			Name: "redis: a writer is heard of twice", File: "lock/redislock/watch.go", Pkg: redis,
			Old: "	if text != repeated {\n", New: "	if true {\n", Test: "TestJavaAboutToSleepMissesAWriter",
		},
		{
			Name: "redis: a repeated release of a reader fails", File: scripts + "rw_release.lua", Pkg: redis,
			Old: "if call('exists', latch) == 1 then\n",
			New: "if false then\n", Test: onRedis("ReleaseOfAReaderFreesOthers"),
		},
		{
			Name: "redis: a repeated reader is a new one", File: scripts + "rw_acquire.lua", Pkg: redis,
			Old: "if call('hexists', lock, field) == 1 and (",
			New: "if false and (", Test: onRedis("RetriedReaderCountsTwice"),
		},
		{
			Name: "redis: writers claim nothing", File: scripts + "rw_acquire.lua", Pkg: redis,
			Old: "    if not first or first == owner then\n", New: "    if first == owner then\n",
			Test: onRedis("WriterWhoGaveUpKeepsReadersOff"),
		},
		{
			Name: "redis: a claim outlives its writer", File: scripts + "rw_release.lua", Pkg: redis,
			Old: "    tellAll(channel)\n    call('del', claim)\n",
			New: "", Test: onRedis("WriterWhoGaveUpKeepsReadersOff"),
		},
		{
			Name: "redis: a reader's renewal keeps the others alive", File: scripts + "rw_renew.lua", Pkg: redis,
			Old: "    call('pexpire', hold, lease)\n", New: "", Test: onRedis("RenewedReadersExpire"),
		},
	}
}

func permitRedisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: permits that are over are not taken back", File: scripts + "permit_acquire.lua", Pkg: redis,
			Old: "taken, '-inf', now) > 0 then", New: "taken, '-inf', 0) > 0 then",
			Test: onRedis("PermitsOfTheDeadAreLost"),
		},
		{
			Name: "redis: repeated permits are taken twice", File: scripts + "permit_acquire.lua", Pkg: redis,
			Old: "if has(taken, prefix, count, now) then\n",
			New: "if false then\n", Test: onRedis("RetriedPermitsCountTwice"),
		},
		{
			Name: "redis: permits are given back twice", File: scripts + "permit_release.lua", Pkg: redis,
			Old: "if away == 0 then\n  return -1\nend\n", New: "away = math.max(away, count)\n",
			Test: "TestJavaCountsOtherPermits",
		},
		{
			Name: "redis: a lower limit is ignored", File: scripts + "permit_acquire.lua", Pkg: redis,
			Old: "  if there ~= before then\n", New: "  if there > before then\n", Test: "TestJavaCountsOtherPermits",
		},
		{
			Name: "redis: semaphores are not listed", File: "lock/redislock/inspect.go", Pkg: redis,
			Old:  "	if b.opts.Profile == Redisson {\n		scans",
			New:  "	if b.opts.Profile == Redlock {\n		scans",
			Test: onRedis("ListHidesAKind"),
		},
	}
}
