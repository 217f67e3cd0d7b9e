package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// backlogMutants are faults in holding those back who would leave more behind than can be given back.
func backlogMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "those who leave pile up", File: "lock/release_backlog.go", Pkg: front,
			Old:  "	case a == nil || a.owners < mostGivenBack:\n",
			New:  "	case a == nil || a.owners < 1000*mostGivenBack:\n",
			Test: "TestCallersWhoLeavePileUp",
		},
		{
			Name: "who is held back is so for good", File: "lock/release_backlog.go", Pkg: front,
			Old: "	askedDespite = time.Second\n", New: "	askedDespite = time.Hour\n",
			Test: "TestWhatIsNotGivenBackKeepsEverybodyAway",
		},
		{
			Name: "a try is held back for longer than it has", File: "lock/release_backlog.go", Pkg: front,
			Old: "opts.AnswerTime() - opts.leastAnswer()", New: "opts.AnswerTime() + time.Second",
			Test: "TestTryLockIsHeldBackForLong",
		},
		{
			Name: "those who are held back are patient for ever", File: "lock/release_backlog.go", Pkg: front,
			Old: "	return opts.Patience\n", New: "	return 100 * opts.Patience\n",
			Test: "TestThoseHeldBackHaveNoPatience",
		},
		{
			Name: "sql: who wants another name waits for all of the first", File: remoteLocks + "/room.go",
			Pkg: remoteLocks,
			Old: "		r.turns = append(r.turns[1:], name)\n", New: "",
			Test: "TestManyOfOneNameKeepAnotherOut",
		},
	}
}
