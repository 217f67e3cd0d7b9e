package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// voteMutants are faults in a store that is one of several.
func voteMutants() []mutants.Mutant {
	const (
		vote    = "lock/memlock/vote.go"
		scripts = "lock/redislock/scripts/"
	)
	return []mutants.Mutant{
		{
			Name: "a vote is not above what it is asked for", File: vote, Pkg: memory,
			Old: "	default:\n		s.token = max(s.token, req.Above)\n", New: "",
			Test: inMemory("TokenIsNotAboveWhatWasAsked"),
		},
		{
			Name: "who has the lock keeps tokens that are too low", File: vote, Pkg: memory,
			Old: "g.first <= req.Above", New: "g.first == 0", Test: inMemory("OwnGrantKeepsOldTokens"),
		},
		{
			Name: "a young store grants", File: vote, Pkg: memory,
			Old: "s.since(s.started) < req.Age", New: "s.since(s.started) < 0", Test: inMemory("AgeIsIgnored"),
		},
		{
			Name: "a young store does not know who has the lock", File: vote, Pkg: memory,
			Old: "	switch {\n	case held && g.owner != req.Owner:",
			New: "	switch {\n	case s.since(s.started) < req.Age:\n		return driver.ErrYoung\n" +
				"	case held && g.owner != req.Owner:",
			Test: inMemory("AgeHidesTheHolder"),
		},
		{
			Name: "redis: a vote skips a token", File: scripts + "vote_rules.lua", Pkg: redis,
			Old: "math.max(first, before + 1)", New: "math.max(first, before + 2)",
			Test: onRedis("TokenSkipsWithoutNeed"),
		},
		{
			Name: "redis: who has the lock keeps tokens that are too low", File: scripts + "vote_held.lua", Pkg: redis,
			Old: "answer[2] <= above", New: "answer[2] <= 0", Test: onRedis("OwnGrantKeepsOldTokens"),
		},
		{
			Name: "redis: an heir has lower tokens than the holder", File: scripts + "vote_held.lua", Pkg: redis,
			Old: "'bedrock:token', last, HEIRS, '')", New: "'bedrock:token', last)",
			Test: "TestHeirOfAVoteHasALowerToken/goredis",
		},
		{
			Name: "redis: a young server grants", File: scripts + "vote.lua", Pkg: redis,
			Old: "return wrong or {4}", New: "age = 0", Test: onRedis("AgeIsIgnored"),
		},
		{
			Name: "redis: a server is as young as its snapshot", File: scripts + "vote_rules.lua", Pkg: redis,
			Old:  "  local info = redis.pcall('info', 'server')\n",
			New:  "  local info = nil\n",
			Test: "TestServerThatHasForgottenVotes/profile0/goredis",
		},
		{
			Name: "client: an old server grants a vote", File: "internal/apiwire/lock.go", Pkg: "client",
			Old: "		m.Mode = modeVote\n", New: "", Test: "TestOldServerIgnoresVotes",
		},
	}
}
