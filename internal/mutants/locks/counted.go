package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// countedMutants are faults in what a server tells, and counts, of the locks it gives out; and in how many permits
// Redis tells of.
func countedMutants() []mutants.Mutant {
	const endings, daemon = "server/lock_endings.go", "cmd/bedrock/internal/daemon"
	return []mutants.Mutant{
		{
			Name: "server: who is passed a lock leaves the queue twice", File: daemon + "/lockmetrics.go", Pkg: daemon,
			Old: "		if !e.Passed {\n", New: "		if e.Name != \"\" {\n",
			Test: "TestALockThatIsPassedOnLeavesTheQueueTwice",
		},
		{
			Name: "server: what was never granted is lost", File: endings, Pkg: daemon,
			Old: "ErrLost) && !e.isGivenUp(g):", New: "ErrLost) && (g.Token == 0 || !e.isGivenUp(g)):",
			Test: "TestWhoGivesUpLosesALock",
		},
		{
			Name: "server: who gave up loses what it was granted", File: endings, Pkg: "server",
			Old: "ErrLost) && !e.isGivenUp(g):", New: "ErrLost) && g.Token > 0:", Test: "TestALossIsToldOfWhatIsNone",
		},
		{
			Name: "server: an end is told for two", File: endings, Pkg: "server",
			Old: "	if f.told || f.gone == nil", New: "	if f.gone == nil", Test: "TestALossIsToldOfWhatIsNone",
		},
		{
			Name: "server: an outage hides a loss", File: endings, Pkg: "server",
			Old: "err != nil && !settle.NothingHappened(", New: "err != nil && settle.NothingHappened(",
			Test: "TestAnEndIsToldForTwo",
		},
		{
			Name: "server: a release whose answer is lost has no end", File: endings, Pkg: "server",
			Old: "		f.unsure = true\n", New: "		f.told = true\n", Test: "TestABrokenReleaseIsNeverTold",
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
