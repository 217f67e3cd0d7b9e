package main

import "github.com/bedrock-go/bedrock/internal/mutants"

func lockMutants() []mutants.Mutant {
	return []mutants.Mutant{
		locks("a lane that finds only released holds stays, dead", "lock/renew_lane.go",
			"	if len(batch) == 0 {\n		delete(r.lanes, shard)",
			"	if len(batch) == 0 && cap(batch) == 0 {\n		delete(r.lanes, shard)"),
		locks("an owner whose release may be on its way asks again", "lock/acquire_contest.go",
			"if errors.Is(err, driver.ErrSpent) {", "if errors.Is(err, driver.ErrSpent) && k.refusals < 0 {"),
		locks("clean-up does not wait for the end of its own request", "internal/settle/settle.go",
			"ended := d.Ended()", "ended := true"),
		locks("processes far away are given no time to come", "lock/share.go",
			"s.pause = min(2*s.pause, longestYield)", "s.pause = shortestYield"),
		locks("waiters do not learn of a life cut short", "lock/memlock/store.go",
			"shortened := expires.Before(g.expires)", "shortened := false"),
	}
}
