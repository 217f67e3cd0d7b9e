package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// departureMutants are faults in what others are owed when who stood aside goes.
func departureMutants() []mutants.Mutant {
	const (
		departure = "lock/share_departure.go"
		several   = "TestSeveralWantsOfAProcessStarveAnother"
		upgrading = "TestAnUpgradeableReaderFarAwayIsStarved"
		asking    = "TestWhoHasAskedComesAfterThoseBesideTheHolder"
	)
	return []mutants.Mutant{
		{
			Name: "a turn that was read is not accounted for", File: departure, Pkg: front,
			Old: " || h.onlyRead", New: "", Test: "TestAWriterFarAwayIsStarvedByTurnsThatAreRead",
		},
		{
			Name: "upgradeable readers owe nobody anything", File: departure, Pkg: front,
			Old: " || h.want.isUpgradeable()", New: "", Test: upgrading,
		},
		{
			Name: "upgradeable readers let nobody go first", File: "lock/share_yield.go", Pkg: front,
			Old: " && !k.want.isUpgradeable()", New: "", Test: upgrading,
		},
		{
			Name: "a reader who was asked goes, and a writer beside him comes", File: departure, Pkg: front,
			Old: "	case h.isAsked():\n", New: "	case h.isAsked() && !h.aside:\n", Test: asking,
		},
		{
			Name: "who has asked is given as little time as others", File: "lock/share.go", Pkg: front,
			Old: "		return s.freed + longestYield\n", New: "		return s.freed + s.pause\n", Test: asking,
		},
		{
			Name: "who asks does not wait for what own releases tell", File: departure, Pkg: front,
			Old: "	return k.pauseFor(ctx, left, answered)\n", New: "	return nil\n",
			Test: "TestWhoIsAskedIsForgottenWithWhoWaitsBeside",
		},
		{
			Name: "own releases use up a limited wait", File: departure, Pkg: front,
			Old:  "min(until-k.q.client.now(), spare(ctx))",
			New:  "until - k.q.client.now()",
			Test: "TestOwnReleasesUseUpAWait",
		},
		{
			Name: "own releases are goes of others", File: "lock/share_echo.go", Pkg: front,
			Old: "min(uint64(told), s.releases-q.echoes)", New: "uint64(0)", Test: several,
		},
		{
			Name: "a go of others is an echo", File: "lock/share_echo.go", Pkg: front,
			Old: " && now <= q.echo", New: "", Test: "TestAGoOfOthersIsTakenForAnEcho",
		},
		{
			Name: "what this process has itself is a go of others", File: "lock/share_yield.go", Pkg: front,
			Old: "k.inside = own == nil && ", New: "k.inside = own != nil || ", Test: several,
		},
		{
			Name: "who is next lets others first, whom the store keeps off", File: "lock/share_yield.go", Pkg: front,
			Old: " || k.isNext", New: "", Test: several,
		},
		{
			Name: "each kind of want has a share of its own", File: "lock/share_kept.go", Pkg: front,
			Old: "(q.side == \"\" || q.side == upgradeableSide || q.side == humbleSide)",
			New: "q.side == \"\"", Test: several,
		},
		{
			Name: "an upgrade is two goes", File: "lock/share_company.go", Pkg: front,
			Old: "		c.goes--\n", New: "", Test: "TestThoseWhoUpgradeStarveAThird",
		},
		{
			Name: "a reader's context ends with the writer's it had been", File: "lock/rwmutex.go", Pkg: front,
			Old: "l.outlivedBy(ctx), &m.want", New: "ctx, &m.want", Test: "TestADowngradeEndsTheContextOfTheReader",
		},
		{
			Name: "a turn that goes on is looked at once", File: "lock/handoff_readers.go", Pkg: front,
			Old: "		h.turn = nil //", New: "		//", Test: "TestTheClockGoesBackInAWritersTurn",
		},
	}
}

// turnOrderMutants are faults of stores in who comes next, and in requests that come late.
func turnOrderMutants() []mutants.Mutant {
	const (
		scripts = "lock/redislock/scripts/"
		late    = "TestLateCopyIsNotGivenBack"
	)
	return []mutants.Mutant{
		{
			Name: "redis: those who upgrade let each other in", File: scripts + "rw_release.lua", Pkg: redis,
			Old: " and not isNext() then", New: " then", Test: onRedis("UpgradesLetEachOtherIn"),
		},
		{
			Name: "memory: those who upgrade let each other in", File: "lock/memlock/crowd.go", Pkg: memory,
			Old: " && !c.writerIsNext() {", New: " {", Test: inMemory("UpgradesLetEachOtherIn"),
		},
		{
			Name: "redis: a late copy of a reader's or writer's request stays",
			File: scripts + "rw_release.lua", Pkg: redis,
			Old:  "local function withdraw()",
			New:  "if call('exists', latch) == 1 then return 0 end\nlocal function withdraw()",
			Test: late,
		},
		{
			Name: "redis: a late copy of a request for permits stays",
			File: scripts + "permit_release.lua", Pkg: redis,
			Old:  "local kind = redis",
			New:  "if call('exists', latch) == 1 then return 0 end\nlocal kind = redis",
			Test: late,
		},
		{
			Name: "redis: a late copy of a writer's request claims a turn",
			File: scripts + "rw_acquire.lua", Pkg: redis,
			Old: "if writes and kind and has ~= owner", New: "if false",
			Test: "TestLateCopyComesAfterTheDowngrade",
		},
	}
}
