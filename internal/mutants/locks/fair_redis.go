package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// fairRedisMutants are faults in fair locks on Redis.
func fairRedisMutants() []mutants.Mutant {
	const script = "lock/redislock/scripts/line.lua"
	return []mutants.Mutant{
		{
			Name: "redis: who comes last is first in line", File: script, Pkg: redis,
			Old: "    elseif not at then\n      call('rpush', queue, owner)\n",
			New: "    elseif not at then\n      call('lpush', queue, owner)\n", Test: "TestFairLockGoesInOrder",
		},
		{
			Name: "redis: the line is in a key of its own", File: script, Pkg: redis,
			Old:  "timeouts, records = queueOf(lock), ",
			New:  "timeouts, records = 'x' .. queueOf(lock), ",
			Test: "TestJavaInLineIsTold",
		},
		{
			Name: "redis: the one of Redisson's is told on another channel", File: script, Pkg: redis,
			Old: "redis.pcall(command, channel .. ':' .. owner, '0')", New: "redis.pcall(command, channel, '0')",
			Test: "TestJavaInLineIsTold",
		},
		{
			Name: "redis: the one of Redisson's is waited for without end", File: script, Pkg: redis,
			Old: "since and since + LINE_COMES <= now", New: "false", Test: "TestJavaInLineIsTold",
		},
		{
			Name: "redis: who was told once is passed over ever after", File: "lock/redislock/scripts/fair_acquire.lua",
			Pkg: redis, Old: "  line.seeHeld()\n", New: "", Test: "TestJavaComesInTime",
		},
		{
			Name: "redis: who was put out by Redisson begins anew", File: script, Pkg: redis,
			Old: "    if not at and record and since == record.since then\n", New: "    if false then\n",
			Test: "TestPutOutByRedissonKeepsItsPlace",
		},
		{
			Name: "redis: who was put out by Redisson comes before all", File: script, Pkg: redis,
			Old: "      if not record or tonumber(record.since) > tonumber(since) then\n", New: "      if true then\n",
			Test: "TestPutOutByRedissonKeepsItsPlace",
		},
		{
			Name: "redis: nothing is taken off the times of Redisson's", File: script, Pkg: redis,
			Old: "    if at and ours then\n", New: "    if false then\n", Test: "TestTimesOfTheLine",
		},
		{
			Name: "redis: a line is kept for ever", File: script, Pkg: redis,
			Old: "    call('pexpire', queue, life)\n", New: "",
			Test: "TestTimesOfTheLine",
		},
		{
			Name: "redis: a plain release does not look for the line",
			File: "lock/redislock/scripts/release.lua", Pkg: redis,
			Old: "  if line then\n    serveLine(lock)\n", New: "  if false then\n    serveLine(lock)\n",
			Test: "TestPlainReleaseServesTheLine",
		},
		{
			Name: "redis: a forced release does not look for the line",
			File: "lock/redislock/scripts/force.lua", Pkg: redis,
			Old: "  pcall(function() return queueOf(lock) and lineOf(lock).serve(ARGV[1]) end)\n",
			New: "", Test: "TestPlainReleaseServesTheLine",
		},
		{
			Name: "redis: who hears nothing is given the lock", File: script, Pkg: redis,
			Old: "heard == 0 and record.how ~= 'c'", New: "false", Test: "TestGoneWaiterIsPassedOver",
		},
		{
			Name: "redis: two names have one line", File: "lock/redislock/fair.go", Pkg: redis,
			Old: "open && closed && !strings.Contains(inner, \"{\")", New: "false && open && closed",
			Test: "TestFairNameOfAnother",
		},
		{
			Name: "redis: who has gone counts in line", File: script, Pkg: redis,
			Old:  "      if not record or record.ends > now then\n        break\n",
			New:  "      if true then\n        break\n",
			Test: "TestTheDeadHaveNoPlace",
		},
		{
			Name: "redis: a missed grant is waited for", File: "lock/redislock/inbox.go", Pkg: redis,
			Old: "		i.give(driver.Grant{Name: name, Owner: owner})\n", New: "		_, _ = owner, name\n",
			Test: "TestMissedGrantIsAskedFor",
		},
	}
}

// fairRightsMutants are faults in what becomes of a line where not all goes well.
func fairRightsMutants() []mutants.Mutant {
	const script = "lock/redislock/scripts/line.lua"
	return []mutants.Mutant{
		{
			Name: "redis: who is given what never ends is told so", File: script, Pkg: redis,
			Old:  "redis.pcall('pexpire', lock, record.claim) == 1 and notify(",
			New:  "redis.pcall('pexpire', lock, record.claim) and notify(",
			Test: "TestWhoMayNotGiveMakesTwoHolders",
		},
		{
			Name: "redis: who is refused keeps its place", File: "lock/redislock/scripts/fair_acquire.lua", Pkg: redis,
			Old: "  line.undo(owner)\n", New: "", Test: "TestWhoIsRefusedHasNoPlace",
		},
		{
			Name: "redis: a lock is passed on before the line", File: "lock/redislock/scripts/release.lua", Pkg: redis,
			Old: "  if has[2] and has[2] ~= '' and not line then\n", New: "  if has[2] and has[2] ~= '' then\n",
			Test: "TestPassedOnLockForgetsTheLine",
		},
		{
			Name: "redis: an odd waiter stops the line", File: script, Pkg: redis,
			Old: "'^(%d+) (%d+) (.*)$'", New: "'^(%d+) (%d+) (%S+)$'", Test: "TestOddWaitersStopTheLine",
		},
		{
			Name: "redis: an owner without a number is given the lock", File: "lock/redislock/fair.go", Pkg: redis,
			Old: " || !isNumbered(req.Owner)", New: "", Test: "TestOddOwnersInLine",
		},
		{
			Name: "redis: those of Redisson's wait behind who hears nothing", File: script, Pkg: redis,
			Old: "        putAside(at)\n", New: "", Test: "TestRedissonsWaitBehindTheUnheard",
		},
		{
			Name: "redis: what ours have said ends before the line", File: script, Pkg: redis,
			Old: "line.isThere() and life or LINE_COMES + LINE_SEEN", New: "LINE_COMES + LINE_SEEN",
			Test: "TestTheDeadOutliveWhatTheyHaveSaid",
		},
		{
			Name: "redis: what the dead have said is kept", File: script, Pkg: redis,
			Old: "    clean()\n", New: "", Test: "TestWhatTheDeadHaveSaidIsForgotten",
		},
		{
			Name: "redis: the line of another name is served", File: "lock/redislock/scripts/keys.lua", Pkg: redis,
			Old: "not string.find(lock, '^{[^{]*}$') and", New: "true and", Test: "TestLinesOfOtherNamesAreServed",
		},
		{
			Name: "redis: the counter lives as long as another's", File: script, Pkg: redis,
			Old: "    keepFor = own\n", New: "", Test: "TestCounterHasAnothersLife",
		},
	}
}
