package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// plainRedisMutants are faults in permits of Redisson's RSemaphore.
func plainRedisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: plain permits of the dead are lost", File: scripts + "permit.lua", Pkg: redis,
			Old: "      redis.call('incrby', name, over)\n", New: "      over = over + 0\n",
			Test: "TestOursOfAnRSemaphoreComeBack",
		},
		{
			Name: "redis: renewals leave plain permits of the dead", File: scripts + "permit_renew.lua", Pkg: redis,
			Old: "  local over = isPlain(taken) and", New: "  local over = false and",
			Test: "TestOursOfAnRSemaphoreComeBack",
		},
		{
			Name: "redis: plain permits are counted without Java's", File: scripts + "plain_count.lua", Pkg: redis,
			Old: "  elseif before and tonumber(before) ~= limit then\n", New: "  else\n    before = number + ours\n",
			Test: "TestNumberOfAnRSemaphore",
		},
		{
			Name: "redis: ours overstep their limit of plain permits", File: scripts + "plain_count.lua", Pkg: redis,
			Old: "  return more, math.min(number, limit - ours)\n", New: "  return more, number\n",
			Test: "TestNumberThatJavaHasMade",
		},
		{
			Name: "redis: Java's number of permits is forgotten", File: scripts + "semaphore.lua", Pkg: redis,
			Old: "'^(%d+) made$'))\n", New: "'^(%d+)'))\n    or nil\n  if limit then return true end\n",
			Test: "TestNumberThatJavaHasMade",
		},
		{
			Name: "redis: a plain release tells how many came back", File: scripts + "permit_release.lua", Pkg: redis,
			Old: "if isPlain(taken) then\n", New: "if false then\n", Test: "TestReleaseTellsJavaTheNumber",
		},
		{
			Name: "redis: two layouts of semaphores on one name", File: scripts + "permit_acquire.lua", Pkg: redis,
			Old: "wrong = wrong or otherLayout(name, holders)\n", New: "", Test: "TestSemaphoresOfTwoLayouts",
		},
		{
			Name: "redis: plain permits of Java are not shown", File: "lock/redislock/inspect_kinds.go", Pkg: redis,
			Old: "err == nil && all > info.Limit {", New: "err == nil && all > info.Limit+99 {",
			Test: "TestOthersOfAnRSemaphoreAreShown",
		},
		{
			Name: "redis: permits end before a number that lasts", File: scripts + "permit.lua", Pkg: redis,
			Old: "elseif left == -1 and", New: "elseif false and", Test: "TestNumberThatIsMadeToLast",
		},
		{
			Name: "redis: a renewal is no use of a semaphore", File: scripts + "permit_renew.lua", Pkg: redis,
			Old: "math.max(lease, tonumber(ARGV[3]))", New: "lease", Test: "TestNumberIsForgottenRightAfterItsUse",
		},
		{
			Name: "redis: a release is no use of a semaphore", File: scripts + "permit_release.lua", Pkg: redis,
			Old: "keep(name, taken, holders, tonumber(ARGV[6]))\n", New: "",
			Test: "TestSemaphoreIsForgottenRightAfterItsUse",
		},
		{
			Name: "redis: plain permits come back to any lock", File: scripts + "permit_release.lua", Pkg: redis,
			Old: "if number then\n", New: "if true then\n", Test: "TestPermitsComeBackToAnotherLock",
		},
		{
			Name: "redis: a mutex beside permits without a number", File: scripts + "free.lua", Pkg: redis,
			Old: "NUMBERLESS and", New: "false and", Test: "TestMutexOverPermits",
		},
		{
			Name: "redis: plain permits without a number are not seen", File: scripts + "kind.lua", Pkg: redis,
			Old: "return NUMBERLESS and", New: "return false and", Test: "TestForceWithoutANumber",
		},
		{
			Name: "redis: a latch keeps permits of the dead", File: scripts + "countdown_set.lua", Pkg: redis,
			Old: "takenOf(name), ", New: "", Test: "TestLatchAfterTheDead",
		},
	}
}

// pleadingRedisMutants are faults in what holders are told.
func pleadingRedisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: the dead are asked", File: scripts + "plead.lua", Pkg: redis,
			Old: "and lives(field) then\n", New: "then\n", Test: "TestTheDeadAreAsked",
		},
		{
			Name: "redis: Java's holders count as asked in a cluster", File: scripts + "plead.lua", Pkg: redis,
			Old: "ARGV[3] == '1' and isOurs(field)", New: "ARGV[3] == '1'", Test: "TestAskedAmongClusters",
		},
		{
			Name: "redis: a cluster counts who listens at one server", File: scripts + "plead.lua", Pkg: redis,
			Old: "(listening > 0 or ARGV[3] == '1' and isOurs(field))", New: "listening > 0",
			Test: "TestAskedAmongClusters",
		},
		{
			Name: "redis: a forced release is told to one holder", File: scripts + "owners.lua", Pkg: redis,
			Old: "      found[#found + 1] = field\n", New: "      found[1] = field\n",
			Test: "TestEveryHolderIsToldOfForce",
		},
		{
			Name: "redis: of very many holders nobody is told", File: scripts + "owners.lua", Pkg: redis,
			Old: "redis.call('hrandfield', hash, 2002)", New: "{}", Test: "TestManyHoldersAreNotAsked",
		},
		{
			Name: "redis: force raises the token before it publishes", File: scripts + "force.lua", Pkg: redis,
			Old: "tellWaiting()\nlocal last", New: "local last",
			Also: []mutants.Edit{{
				File: scripts + "force.lua", Old: "local held = free()", New: "tellWaiting()\nlocal held = free()",
			}},
			Test: "TestForceByWhoMayNotPublish",
		},
	}
}
