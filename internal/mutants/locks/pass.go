package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// passingMutants are faults in passing a lock on.
func passingMutants() []mutants.Mutant {
	return append(passingFrontMutants(), passingRedisMutants()...)
}

func passingFrontMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a grant's deadline counts from its message", File: "lock/acquire_stand.go", Pkg: front,
			Old:  "k.acceptGrant(ctx, parent, grant, s.sent, s.claim)",
			New:  "k.acceptGrant(ctx, parent, grant, k.q.client.now(), s.claim)",
			Test: "TestPassedOnLockOutlivesItsClaim",
		},
		{
			Name: "the message of an earlier grant counts", File: "lock/acquire_stand.go", Pkg: front,
			Old: "	return g.Token == s.token || s.rising", New: "	return g.Token > 0 || s.rising",
			Test: "TestMessageOfAnEarlierGrant",
		},
		{
			Name: "a message told twice frees what is held", File: "lock/inherit.go", Pkg: front,
			Old: "	if p.closed || p.holdOf(g.Name, g.Owner) != nil {", New: "	if p.closed {",
			Test: "TestGrantIsToldTwice",
		},
		{
			Name: "a grant nobody wants is kept", File: "lock/inherit.go", Pkg: front,
			Old: "		c.releaseUnknown(g, nil)\n", New: "", Test: "TestGrantNobodyWants",
		},
		{
			Name: "who stands does not ask again", File: "lock/acquire_stand.go", Pkg: front,
			Old: "	return min(pause, s.askAgainAfter())\n", New: "	return pause\n",
			Test: "TestMessageOfAGrantIsLost/unheard",
		},
		{
			Name: "what may have been missed is not asked for", File: "lock/inherit.go", Pkg: front,
			Old: "	if g.Owner == \"\" {\n", New: "	if g.Owner == \"\" && q != nil {\n",
			Test: "TestMessageOfAGrantIsLost/missed",
		},
		{
			Name: "the place in line is lost with the front", File: "lock/acquire_stand.go", Pkg: front,
			Old: "	case !k.try && *s.want == *k.want:", New: "	case k.try:",
			Test: "TestPlaceInLineIsTheFrontsOwn",
		},
		{
			Name: "the end of a wait forgets that it stands", File: "lock/acquire_contest.go", Pkg: front,
			Old: "		settled := k.settleStanding()\n", New: "		settled := true\n",
			Test: "TestGrantAtTheEndOfAWaitIsNotTold",
		},
		{
			Name: "a lock is passed on by claims that have run out", File: "lock/memlock/stand.go", Pkg: front,
			Old:  "func(h *stander) bool { return h.late(now) || s",
			New:  "func(h *stander) bool { return h.late(now.Add(-time.Hour)) || s",
			Test: "TestClaimHasRunOut",
		},
	}
}

func passingRedisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: a lock is passed on to who has gone", File: scripts + "pass.lua", Pkg: redis,
			Old: "told > 0", New: "told >= 0", Test: "TestClaimOfOneWhoHasGone/goredis",
		},
		{
			Name: "redis: replicas hear of grants", File: scripts + "heir.lua", Pkg: redis,
			Old: "  redis.set_repl(redis.REPL_NONE)\n", New: "", Test: "TestGrantIsHeardAtAReplica/goredis",
		},
		{
			Name: "redis: who is far away has no turn", File: "lock/redislock/strangers.go", Pkg: redis,
			Old: "o.giveLead(o.listenersLead(), false)", New: "o.giveLead(shortestLead, false)",
			Test: "TestFarStrangerIsKeptOut",
		},
		{
			Name: "redis: who looks now and then finds it held", File: "lock/redislock/strangers.go", Pkg: redis,
			Old: "return lookersLead\n", New: "return 0\n", Test: "TestLookerIsKeptOut",
		},
		{
			Name: "redis: a grant is told before it is made", File: scripts + "pass.lua", Pkg: redis,
			Old: "    local moved = redis.pcall('rename', heirKey(lock, client), lock)\n",
			New: "    redis.call('publish', 'bedrock_client:' .. client,\n" +
				"      'granted ' .. owner .. ' ' .. request .. ' ' .. times .. ' ' .. age .. ' 0 ' .. lock)\n" +
				"    local moved = redis.pcall('rename', heirKey(lock, client), lock)\n",
			Test: "TestClaimOfOneWhoHasGone/goredis",
		},
		{
			Name: "redis: a claim outlives the wish", File: scripts + "release.lua", Pkg: redis,
			Old: "    withdraw(lock, owner)\n", New: "", Test: "TestClaimOfOneWhoHasGone/goredis",
		},
		{
			Name: "redis: a claim lives as long as a lease", File: scripts + "acquire_held.lua", Pkg: redis,
			Old: "math.min(tonumber(lease), tonumber(longest))", New: "tonumber(lease)",
			Test: "TestReleaseMakesTheNextOneAsk/goredis",
		},
		{
			Name: "redis: tokens reserved since count as the holder's", File: scripts + "held.lua", Pkg: redis,
			Old: "tonumber(about[2] or call('get', counter) or nil)", New: "tonumber(call('get', counter) or nil)",
			Test: "TestHoldersTokensAreGivenTwice",
		},
		{
			Name: "redis: a lock is passed on for ever", File: scripts + "release.lua", Pkg: redis,
			Old: "return listening - others - own\n", New: "return 0\n", Test: "TestStrangersAreKeptOut",
		},
		{
			Name: "redis: a release repeated after passing on fails", File: scripts + "release.lua", Pkg: redis,
			Old: "  redis.pcall('psetex', latch, '10000', owner)\n  if long", New: "  if long",
			Test: "TestReleaseMakesTheNextOneAsk/goredis",
		},
	}
}
