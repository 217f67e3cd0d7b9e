package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// circleMutants are faults in finding holders who wait for each other.
func circleMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "circle: nobody gives up", File: "lock/deadlock.go", Pkg: front,
			Old: "				s.cancel(&DeadlockError{Name: s.name, Cycle: cycle})\n", New: "",
			Test: "TestHoldersWaitForEachOther",
		},
		{
			Name: "circle: everybody gives up at once", File: "lock/deadlock.go", Pkg: front,
			Old: "seen > 1 && givesUp(cycle, me)", New: "seen > 1 && (true || givesUp(cycle, me))",
			Test: "TestHoldersWaitForEachOther",
		},
		{
			Name: "circle: one is believed that was seen once", File: "lock/deadlock.go", Pkg: front,
			Old: "seen > 1 && givesUp(cycle, me)", New: "givesUp(cycle, me)", Test: "TestCircleIsGoneInAMoment",
		},
		{
			Name: "circle: it goes through permits", File: "lock/deadlock.go", Pkg: front,
			Old: "err != nil || info.Kind == driver.Semaphore", New: "err != nil", Test: "TestPermitsMakeNoCircle",
		},
		{
			Name: "circle: who waits for itself is taken for one", File: "lock/deadlock.go", Pkg: front,
			Old:  "if me := s.ownerHere(name, &info); me != \"\" {",
			New:  "if me := s.ownerHere(name, &info); me != \"\" || len(info.Holders) > 0 && len(path) > 1 {",
			Test: "TestWaitsAreTakenForACircle",
		},
		{
			Name: "circle: a wait that is over is noted still", File: "lock/notes.go", Pkg: front,
			Old: "		delete(n.names, name)\n", New: "", Test: "TestWaitIsOver",
		},
		{
			Name: "circle: nobody notes what it waits for", File: "lock/notes.go", Pkg: front,
			Old: "	n.names[name]++\n", New: "", Test: "TestHoldersWaitForEachOther",
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
			Old: " && !h.isAsked()", New: "", Test: "TestReadersJoinWhoWasAsked",
		},
		{
			Name: "plea: what lingers is kept", File: "lock/plea.go", Pkg: front,
			Old: "	h.endLinger()\n", New: "", Test: "TestWhatLingersIsAskedFor",
		},
		{
			Name: "plea: the holder is not woken", File: "lock/plea.go", Pkg: front,
			Old: "		close(all.asked)\n", New: "		_ = all.asked\n", Test: "TestAskedForAndPassedOn",
		},
	}
}
