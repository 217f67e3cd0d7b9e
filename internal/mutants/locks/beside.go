package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// electionMutants are faults in leader election.
func electionMutants() []mutants.Mutant {
	const pkg = "lock/election"
	return []mutants.Mutant{
		{
			Name: "election: a term is passed on within a process", File: pkg + "/options.go", Pkg: pkg,
			Old: "MaxHold: o.MaxHold, MinHold: leastTerm,", New: "MaxHold: o.MaxHold,",
			Test: "TestATermOfTheSameProcessIsTakenForTheOneBefore",
		},
		{
			Name: "election: a loss ends Lead", File: pkg + "/lead.go", Pkg: pkg,
			Old: "return true, err\n", New: "return false, err\n", Test: "TestALossIsTakenForTheFunctionsEnd",
		},
		{
			Name: "election: the function's own end is a loss", File: pkg + "/lead.go", Pkg: pkg,
			Old:  "ErrReleased):\n\t\treturn false, ",
			New:  "ErrReleased):\n\t\treturn true, ",
			Test: "TestAFunctionThatHasEndedIsRunAgain",
		},
		{
			Name: "election: a loss that nobody has noticed is dropped", File: pkg + "/lead.go", Pkg: pkg,
			Old: "errors.Join(err, resigned)", New: "err", Test: "TestALossThatTheFunctionHasNotNoticedIsNotTold",
		},
		{
			Name: "election: who panics leads on", File: pkg + "/lead.go", Pkg: pkg,
			Old: "	defer func() { _ = resign() }() // if fn panics\n", New: "", Test: "TestAPanicKeepsLeadership",
		},
		{
			Name: "election: an outage ends Lead", File: pkg + "/lead.go", Pkg: pkg,
			Old: "!errors.Is(err, driver.ErrRefused)", New: "!errors.Is(err, driver.ErrUnavailable)",
			Test: "TestAnOutageEndsLead",
		},
		{
			Name: "election: leaders are told apart by owner alone", File: pkg + "/leader.go", Pkg: pkg,
			Old: " && l.Token == other.Token", New: "", Test: "TestAnOwnerThatLeadsAgainIsTakenForTheTermBefore",
		},
		{
			Name: "election: nobody looks when a leader's time is up", File: pkg + "/observe.go", Pkg: pkg,
			Old: "o.seen.TTL < 0 {", New: "o.seen.TTL < 1000*time.Hour {", Test: "TestADeadLeaderIsSeenForLong",
		},
		{
			Name: "election: an outage is told with every look", File: pkg + "/observe.go", Pkg: pkg,
			Old: "o.failures > 1 || o.yield(Leader{}, err)", New: "o.yield(Leader{}, err)",
			Test: "TestAnOutageIsToldAgainAndAgain",
		},
		{
			Name: "election: an observer listens on", File: pkg + "/observe.go", Pkg: pkg,
			Old: "		defer o.ear.Close()\n", New: "", Test: "TestAnObserverIsLeftBehind",
		},
	}
}

// latchMutants are faults in latches, before the backend.
func latchMutants() []mutants.Mutant {
	const pkg = "lock/latch"
	return []mutants.Mutant{
		{
			Name: "latch: each try has an ID of its own", File: pkg + "/latch.go", Pkg: pkg,
			Old: "CountDown(ctx, l.name, id, n)", New: "CountDown(ctx, l.name, id[:0]+newID(), n)",
			Test: "TestALostReplyCountsTwice",
		},
		{
			Name: "latch: what was given up is taken for undone", File: pkg + "/latch.go", Pkg: pkg,
			Old: "	case unknown:\n", New: "	case unknown && false:\n", Test: "TestACallIsGivenUpWithoutTheTruth",
		},
		{
			Name: "latch: a refusal answers for the tries before", File: pkg + "/repeat.go", Pkg: pkg,
			Old: "unknown && !isOfTheState(failure.Err)", New: "false", Test: "TestARefusalAfterALostReplyIsCertain",
		},
		{
			Name: "latch: who awaits does not listen", File: pkg + "/await.go", Pkg: pkg,
			Old: "l.spreadPause(pause), ear.C())", New: "l.spreadPause(pause), nil)", Test: "TestWhoAwaitsIsNotWoken",
		},
		{
			Name: "latch: a stopped client is waited for", File: "lock/internal/attempt/attempt.go", Pkg: pkg,
			Old: "		case <-locks.Done():\n			free()\n", New: "", Test: "TestAStoppedClientIsWaitedFor",
		},
	}
}
