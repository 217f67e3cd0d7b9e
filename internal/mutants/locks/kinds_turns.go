package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

// turnMutants are faults in grants to write that serve readers.
func turnMutants() []mutants.Mutant {
	return slices.Concat(turnFrontMutants(), turnStoreMutants(), departureMutants(), turnOrderMutants())
}

// turnFrontMutants are those in what package lock makes of them.
func turnFrontMutants() []mutants.Mutant {
	const readers = "lock/handoff_readers.go"
	return []mutants.Mutant{
		{
			Name: "who reads by a grant to write writes", File: "lock/reentry.go", Pkg: front,
			Old: "	if !l.root.reads {\n", New: "	if l.root != nil {\n",
			Test: "TestWhoReadsByAGrantToWriteIsAReader",
		},
		{
			Name: "readers of a writer's turn keep others off", File: readers, Pkg: front,
			Old: "	if reads {\n", New: "	if reads && false {\n", Test: "TestReadersLetOthersReadAfterTheirTurn",
		},
		{
			Name: "a grant that others read is passed on to write", File: "lock/handoff.go", Pkg: front,
			Old: " && !h.onlyRead", New: "", Test: "TestAClockGoesBackAfterATurn",
		},
		{
			Name: "a downgrade without an answer is not repeated", File: readers, Pkg: front,
			Old: "		if !h.isInStore() ||", New: "		if err != nil ||",
			Test: "TestReadersLetOthersReadAfterTheirTurn",
		},
		{
			Name: "a backend is asked each time for what it refuses", File: readers, Pkg: front,
			Old: "			c.onlyWrites.Store(true) //", New: "			//",
			Test: "TestABackendThatRefusesToDowngradeIsAskedOnce",
		},
		{
			Name: "readers are not told that their grant is gone", File: readers, Pkg: front,
			Old: "			h.lose(errTaken)\n", New: "", Test: "TestReadersOfAGrantThatIsGoneAreTold",
		},
		{
			Name: "readers pass a writer who waits for those before him", File: readers, Pkg: front,
			Old: " && q.waiters.first == nil\n", New: "\n", Test: "TestAReaderJoinsThoseWhoReadByAGrantToWrite",
		},
		{
			Name: "who waits here waits for readers of a turn that is over", File: readers, Pkg: memory,
			Old: "			h.standAside()\n", New: "", Test: inMemory("ReadersOfAWritersProcessKeepOthersOff"),
		},
	}
}

// turnStoreMutants are those in what stores make of them.
func turnStoreMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "nobody hears of a downgrade", File: "lock/memlock/downgrade.go", Pkg: memory,
			Old: "		s.wakeListeners(name)\n", New: "", Test: inMemory("DowngradePassesReadersWhoWait"),
		},
		{
			Name: "redis: nobody hears of a downgrade", File: scripts + "rw_downgrade.lua", Pkg: redis,
			Old: "tellAll(channel)\n", New: "", Test: onRedis("DowngradePassesReadersWhoWait"),
		},
		{
			Name: "redis: what was downgraded is not renewed", File: scripts + "rw_renew.lua", Pkg: redis,
			Old: "  if writes and hasBecomeReader(lock, owner) then\n", New: "  if false then\n",
			Test: onRedis("DowngradedWriterIsLost"),
		},
		{
			Name: "redis: what was downgraded is not released", File: scripts + "rw_release.lua", Pkg: redis,
			Old: "if writes and hasBecomeReader(lock, owner) then\n", New: "if false then\n",
			Test: onRedis("DowngradedWriterKeepsReadersOff"),
		},
		{
			Name: "redis: a downgrade makes a grant anew", File: scripts + "rw_downgrade.lua", Pkg: redis,
			Old: "if has ~= owner or life <= 0 then\n  return 0\nend\n",
			New: "life = life or 10000\n", Test: onRedis("DowngradeRevivesAGrant"),
		},
	}
}
