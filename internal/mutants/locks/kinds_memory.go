package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// crowdMutants are faults in what several may have in memory.
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
			Name: "it is not the readers' turn after a writer", File: crowd, Pkg: memory,
			Old: "	if req.Mode == driver.Write {\n		first, ends",
			New: "	if req.Mode > driver.Permit {\n		first, ends", Test: inMemory("WriterPassesReadersWhoWait"),
		},
		{
			Name: "the turn of readers who gave up goes on", File: crowd, Pkg: memory,
			Old: "	delete(r.turn, owner)\n", New: "", Test: inMemory("WriterPassesReadersWhoWait"),
		},
		{
			Name: "every writer who waits asks again soon", File: crowd, Pkg: front,
			Old: "max(c.writer.expires.Sub(now), readersTurn)",
			New: "min(c.writer.expires.Sub(now), readersTurn)", Test: "TestASecondWriterPolls",
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
