package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// multiMutants are faults in taking several locks, in any number of steps.
func multiMutants() []mutants.Mutant {
	const pkg = "lock/multi"
	return []mutants.Mutant{
		{
			Name: "multi: the locks are taken in the caller's order", File: pkg + "/multi.go", Pkg: pkg,
			Old:  "return strings.Compare(a.Name(), b.Name())",
			New:  "return 0 * strings.Compare(a.Name(), b.Name())",
			Test: "TestWaitsForOneOfThem",
		},
		{
			Name: "multi: what was had by then is kept", File: pkg + "/multi.go", Pkg: pkg,
			Old: "			_ = t.lease.Unlock(ctx) // what is not certain goes on in the background\n", New: "",
			Test: "TestWaitEnds",
		},
		{
			Name: "multi: a wait that is over is a context that has ended", File: pkg + "/multi.go", Pkg: pkg,
			Old:  "waited && (err == nil || ctx.Err() == nil && errors.Is(err, context.Canceled)):",
			New:  "waited && err == nil:",
			Test: "TestWaitEnds",
		},
		{
			Name: "multi: the context of all is that of the first", File: pkg + "/taking.go", Pkg: pkg,
			Old: "leases[len(leases)-1].Context()", New: "leases[0].Context()", Test: "TestOneOfThemIsLost",
		},
		{
			Name: "multi: a store that cannot after all fails the caller", File: pkg + "/taking.go", Pkg: pkg,
			Old: "t.apart || errors.Is(err, lock.ErrUnsupported)", New: "t.apart",
			Test: "TestAWrongGuessFailsTheCaller",
		},
		{
			Name: "multi: a refusal is waited for at the first lock", File: pkg + "/taking.go", Pkg: pkg,
			Old: "			return t.next + i + 1, nil\n", New: "			return t.next + min(i, 0) + 1, nil\n",
			Test: "TestEachLockOfAWaitCostsARequest",
		},
		{
			Name: "multi: a refusal is waited for at the last lock", File: pkg + "/taking.go", Pkg: pkg,
			Old:  "			return t.next + i + 1, nil\n",
			New:  "			return t.next + max(i+1, len(bundle)), nil\n",
			Test: "TestEachLockOfAWaitCostsARequest",
		},
	}
}

// bundleMutants are faults in several locks of one step, before the backend.
func bundleMutants() []mutants.Mutant {
	const file = "lock/acquire_all.go"
	return []mutants.Mutant{
		{
			Name: "several: who gives up stays at the front", File: file, Pkg: front,
			Old: "		k.giveUp()\n", New: "", Test: "TestBackendPanicsAtAll",
		},
		{
			Name: "several: what comes after a late grant is not given back", File: file, Pkg: front,
			Old: "b.bids[j].abandonOwner(&grants[j])", New: "_ = grants[j]", Test: "TestAllComeTooLate",
		},
		{
			Name: "several: what was had by then is kept", File: file, Pkg: front,
			Old: "_ = l.Unlock(b.ctx)", New: "_ = l", Test: "TestAllComeTooLate",
		},
		{
			Name: "several: an answer that is lost leaves no doubt", File: file, Pkg: front,
			Old: "		k.doubt = k.doubt.After(err)\n", New: "		_ = k\n", Test: "TestAnswerToAllIsLost",
		},
		{
			Name: "several: the leases do not descend from each other", File: file, Pkg: front,
			Old: "b.leases, b.parent = append(b.leases, l), l.Context()", New: "b.leases = append(b.leases, l)",
			Test: "TestSeveralRequests",
		},
		{
			Name: "several: there is no end to waiting for an answer", File: file, Pkg: front,
			Old: "call.Begin(b.ctx, c.answers.Present(sent))", New: "call.Begin(b.ctx, b.ctx)",
			Test: "TestNoAnswerToAll",
		},
	}
}

// bundleMemoryMutants are faults of the store in memory in several locks of one step, notes, and messages.
func bundleMemoryMutants() []mutants.Mutant {
	const file = "lock/memlock/bundle.go"
	return []mutants.Mutant{
		{
			Name: "memory: of several locks only the first is looked at", File: file, Pkg: memory,
			Old: "; refusal != nil {", New: "; refusal != nil && i == 0 {", Test: inMemory("SomeOfSeveralAreGranted"),
		},
		{
			Name: "memory: of several locks none is named", File: file, Pkg: memory,
			Old: "			refusal.Name = reqs[i].Name\n", New: "", Test: inMemory("SomeOfSeveralAreGranted"),
		},
		{
			Name: "memory: one of several may be of another kind", File: file, Pkg: memory,
			Old: "driver.Mutex); err != nil {", New: "driver.Mutex); err != nil && i > len(reqs) {",
			Test: inMemory("SeveralMixKinds"),
		},
		{
			Name: "memory: anything may be asked for in one step", File: file, Pkg: memory,
			Old:  "driver.Refused(driver.CheckBundle(reqs)); err != nil {",
			New:  "driver.Refused(driver.CheckBundle(reqs)); err != nil && len(reqs) == 0 {",
			Test: inMemory("UnsoundBundleIsGranted"),
		},
		{
			Name: "memory: anybody may note something", File: file, Pkg: memory,
			Old: "!held || g.owner != d.Owner", New: "!held", Test: inMemory("StrangerNotes"),
		},
		{
			Name: "memory: who has stopped attending is told still", File: "lock/memlock/attend.go", Pkg: memory,
			Old: "	delete(s.attendants[client], tell)\n", New: "	_ = tell\n",
			Test: inMemory("AttendantHearsOfOthers"),
		},
	}
}
