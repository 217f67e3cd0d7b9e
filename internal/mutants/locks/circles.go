package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// circleMutants are faults in finding holders who wait for each other.
func circleMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "circle: nobody gives up", File: "lock/deadlock.go", Pkg: front,
			Old: "				s.cancel(s.found.Load())\n", New: "",
			Test: "TestHoldersWaitForEachOther",
		},
		{
			Name: "circle: everybody gives up at once", File: "lock/deadlock.go", Pkg: front,
			Old: "	return cycleOthers + cycleNext*(before-1)\n", New: "	return 2\n",
			Test: "TestSeveralOfACircleGiveUp",
		},
		{
			Name: "circle: one is believed that was seen once", File: "lock/deadlock.go", Pkg: front,
			Old: "		return 2\n", New: "		return 1\n", Test: "TestCircleIsGoneInAMoment",
		},
		{
			Name: "circle: it goes from one place of a store into another", File: "lock/wish.go", Pkg: front,
			Old:  "	return driver.PublicOwner(who)\n",
			New:  "	return driver.PublicOwner(driver.StoreOf(who))\n",
			Test: "TestWaitInAnotherPlaceIsTakenForACircle",
		},
		{
			Name: "circle: it goes through permits", File: "lock/deadlock_search.go", Pkg: front,
			Old: "at.wish.mode == driver.Permit || ", New: "", Test: "TestPermitsMakeNoCircle",
		},
		{
			Name: "circle: whoever waits is taken for one", File: "lock/deadlock_search.go", Pkg: front,
			Old:  "owner := ownerAmong(holds, h.Owner); owner != \"\" {",
			New:  "owner := ownerAmong(holds, h.Owner); owner != \"\" || len(at.path) > 0 {",
			Test: "TestWaitsAreTakenForACircle",
		},
		{
			Name: "circle: a wait that is over is noted still", File: "lock/notes.go", Pkg: front,
			Old: "		delete(n.names, wish)\n", New: "", Test: "TestWaitIsOver",
		},
		{
			Name: "circle: nobody notes what it waits for", File: "lock/notes.go", Pkg: front,
			Old: "	n.names[wish]++\n", New: "", Test: "TestHoldersWaitForEachOther",
		},
		{
			Name: "circle: every holder is in the way of all", File: "lock/wish.go", Pkg: front,
			Old: "	if w.mode != driver.Shared {\n", New: "	if w.mode != driver.Shared || w.upgradeable {\n",
			Test: "TestUpgradeableReaderWaitsForPlainReaders",
		},
		{
			Name: "circle: what is said late stays", File: "lock/notes.go", Pkg: front,
			Old: "late && pause < time.Minute", New: "false && late", Test: "TestLateNoteStays",
		},
		{
			Name: "circle: a lease that is over speaks", File: "lock/deadlock.go", Pkg: front,
			Old: "		if l.Err() == nil {\n", New: "		if l.Err() == nil || true {\n",
			Test: "TestReadersWaitOutlivesItsLease",
		},
	}
}

// pleaMutants are faults in what becomes of a grant whose holder was asked to give it back.
func pleaMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "plea: what was asked for is handed on here", File: "lock/handoff.go", Pkg: front,
			Old: " && !h.isAsked()", New: "", Test: "TestAskedForAndPassedOn",
		},
		{
			Name: "plea: readers join who was asked", File: "lock/queue_shared.go", Pkg: front,
			Old: " && !h.isAsked() && !h.late", New: " && !h.late", Test: "TestReadersJoinWhoWasAsked",
		},
		{
			Name: "plea: what lingers is kept", File: "lock/plea.go", Pkg: front,
			Old: "	h.endLinger()\n", New: "", Test: "TestWhatLingersIsAskedFor",
		},
		{
			Name: "plea: the holder is not woken", File: "lock/plea.go", Pkg: front,
			Old: "		close(l.asked)\n	}\n}\n", New: "		_ = l.asked\n	}\n}\n",
			Test: "TestHolderIsNotAsked",
		},
	}
}
