package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// sideMutants are faults in who waits for whom, and in who writes over a reader.
func sideMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a downgraded writer is handed on", File: "lock/handoff.go", Pkg: front,
			Old: " && !h.ending", New: "", Test: "TestADowngradeHandsTheWriterOn",
		},
		{
			Name: "a downgraded writer is entered", File: "lock/reentry.go", Pkg: front,
			Old: " || h.ending {", New: " {", Test: "TestADowngradeLeavesOneThatEnteredMeanwhile",
		},
		{
			Name: "a downgrade that failed ends the lease", File: "lock/rwmutex.go", Pkg: front,
			Old: "		l.hold.serveOthersAgain()\n", New: "", Test: "TestADowngradeThatFailsEndsTheLease",
		},
		{
			Name: "a lease that is over re-enters what others share", File: "lock/reentry.go", Pkg: front,
			Old: "	if l.unlocked || ", New: "	if ", Test: "TestAnUnlockedReaderReenters",
		},
		{
			Name: "a lost reader is not known by its upgrade", File: "lock/rwmutex.go", Pkg: front,
			Old: "	l.hold.lose(errTaken)\n", New: "", Test: "TestAnUpgradeDoesNotSayThatItsReaderIsLost",
		},
		{
			Name: "an upgrade keeps readers off all the same", File: "lock/rwmutex.go", Pkg: front,
			Old: "driver.Write, w.role&^upgradeable\n", New: "driver.Write, 0\n",
			Test: "TestAnUpgradeForgetsReadersFirst",
		},
		{
			Name: "readers queue behind an upgradeable one", File: "lock/queue_side.go", Pkg: front,
			Old: "	case w.mode == driver.Shared && w.role", New: "	case w.mode == driver.Permit && w.role",
			Test: "TestAPlainReaderWaitsForAnUpgradeableOne",
		},
		{
			Name: "readers queue behind a humble writer", File: "lock/queue_side.go", Pkg: front,
			Old: "	case w.mode == driver.Write && w.role", New: "	case w.mode == driver.Permit && w.role",
			Test: "TestReadersFirstKeepsReadersOfItsProcessOff",
		},
		{
			Name: "tries queue behind who waits", File: "lock/queue_side.go", Pkg: front,
			Old: "	case try && w.hasCompany():", New: "	case try && !w.hasCompany():",
			Test: "TestATryWaitsBehindOneForMore",
		},
		{
			Name: "a higher limit queues behind a lower one", File: "lock/queue_side.go", Pkg: front,
			Old: "strconv.Itoa(int(w.limit))", New: "strconv.Itoa(0)", Test: "TestAHigherLimitWaitsForALowerOne",
		},
		{
			Name: "tries wait for one another", File: "lock/queue_side.go", Pkg: front,
			Old: "		return \"try \" + strconv.FormatUint(c.owners.Add(1), 36)\n", New: "		return \"try\"\n",
			Test: "TestManyTriesAtOnce",
		},
		{
			Name: "writers of other processes are starved", File: "lock/share_kept.go", Pkg: front,
			Old: "!h.q.fair && h.want.mode != driver.Permit", New: "!h.q.fair && h.q.kind == driver.Mutex",
			Test: "TestAWriterFarAwayIsStarved",
		},
		{
			Name: "a humble writer sleeps for as long as a reader lives", File: "lock/acquire_contest.go", Pkg: front,
			Old: "	if k.again == 0 && k.want.mode == driver.Write {", New: "	if k.again < 0 {",
			Test: "TestAWriterSleepsPastADeadReader",
		},
	}
}

// kindServerMutants are faults in how a server waits for others.
func kindServerMutants() []mutants.Mutant {
	const wait = "server/lock_wait.go"
	return []mutants.Mutant{
		{
			Name: "server: an upgrade waits behind a writer", File: wait, Pkg: "server",
			Old: "over: req.Over, ", New: "", Test: "TestAnUpgradeWaitsBehindAWriter",
		},
		{
			Name: "server: another kind waits in line", File: wait, Pkg: "server",
			Old: "kind: req.Mode.Kind(), ", New: "", Test: "TestAnotherKindWaitsInLine",
		},
		{
			Name: "server: a writer that gave up keeps its claim", File: wait, Pkg: "server",
			Old: "		l.giveUp(ctx, req.Ungranted())\n", New: "", Test: "TestAWriterThatHasWaitedKeepsReadersOff",
		},
		{
			Name: "server: a wait that is over keeps its place", File: wait, Pkg: "server",
			Old: "return req.Mode != driver.Permit && !req.Fair }", New: "return req.Mode.Kind() == driver.ReadWrite }",
			Test: "TestAWaitThatIsOverKeepsItsPlace",
		},
		{
			Name: "server: a claim lapses while its writer waits", File: wait, Pkg: "server",
			Old: "driver.PauseFor(refusal.Again)", New: "2*refusal.Again", Test: "TestAClaimLapsesWhileItsWriterWaits",
		},
	}
}
