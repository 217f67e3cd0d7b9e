package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// countedMutants are faults in what a server tells, and counts, of the locks it gives out; and in how many permits
// Redis tells of.
func countedMutants() []mutants.Mutant {
	const events, daemon = "server/lock_events.go", "cmd/bedrock/internal/daemon"
	return []mutants.Mutant{
		{
			Name: "server: who is passed a lock leaves the queue twice", File: daemon + "/lockmetrics.go", Pkg: daemon,
			Old: "		if !e.Passed {\n", New: "		if e.Name != \"\" {\n",
			Test: "TestALockThatIsPassedOnLeavesTheQueueTwice",
		},
		{
			Name: "server: what was never granted is lost", File: events, Pkg: daemon,
			Old: "	case g.Token > 0 && errors.Is(", New: "	case errors.Is(", Test: "TestWhoGivesUpLosesALock",
		},
		{
			Name: "server: an end is told for two", File: events, Pkg: "server",
			Old: "	case !first:\n", New: "	case !first && g.Token == 0:\n", Test: "TestALossIsToldOfWhatIsNone",
		},
		{
			Name: "server: who gave up loses what it was granted", File: "server/lock_endings.go", Pkg: "server",
			Old: " && !e.knows(unknown)\n", New: "\n", Test: "TestALossIsToldOfWhatIsNone",
		},
		{
			Name: "server: an outage hides a loss", File: "server/lock_endings.go", Pkg: "server",
			Old: "	delete(e.latest, at)\n", New: "", Test: "TestAnEndIsToldForTwo",
		},
		{
			Name: "redis: permits of many look few", File: "lock/redislock/scripts/inspect.lua", Pkg: redis,
			Old: "limit or '', all - rank\n", New: "limit or '', 0\n", Test: "TestManyPermitsLookFewer",
		},
		{
			Name: "redis: each permit is told by itself", File: "lock/redislock/scripts/inspect.lua", Pkg: redis,
			Old: "  while has(most) do\n", New: "  while false do\n", Test: "TestManyPermitsLookFewer",
		},
	}
}
