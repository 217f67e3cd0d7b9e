package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// togetherMutants are faults of Redis in several locks of one step, notes and latches.
func togetherMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: several locks are half granted", File: scripts + "bundle.lua", Pkg: redis,
			Old: "  undo()\n", New: "", Test: "TestBundleIsRefusedHalfWay",
		},
		{
			Name: "redis: of several locks the last is told", File: scripts + "bundle.lua", Pkg: redis,
			Old: "held = held or want.held and i\n", New: "held = want.held and i or held\n",
			Test: "TestBundleIsHalfGranted",
		},
		{
			Name: "redis: several locks are never granted again", File: scripts + "bundle_mutex.lua", Pkg: redis,
			Old: "about[1] ~= '1'", New: "true", Test: "TestBundleIsAskedForAgain",
		},
		{
			Name: "redis: a look at several locks forgets a semaphore", File: scripts + "bundle_mutex.lua", Pkg: redis,
			Old:  "    return otherKind and (otherKind[2] or otherKind)\n",
			New:  "    return not forgetSemaphore(want.lock) and otherKind and (otherKind[2] or otherKind) or nil\n",
			Test: "TestBundleOfAFormerSemaphore",
		},
		{
			Name: "redis: a note makes a lock", File: scripts + "annotate.lua", Pkg: redis,
			Old: "elseif has ~= '1' then", New: "elseif false then", Test: "TestNoteMakesALock",
		},
		{
			Name: "redis: a repeated call counts twice", File: scripts + "countdown.lua", Pkg: redis,
			Old: "return what and {tonumber(what), tonumber(number)}\n", New: "return nil\n",
			Test: "TestLatchIsCountedTwice",
		},
		{
			Name: "redis: a latch opens untold", File: scripts + "countdown_down.lua", Pkg: redis,
			Old: "tellAwaiting('0')\n", New: "", Test: "TestLatchOpensUnheard/standalone0/goredis",
		},
		{
			Name: "redis: a latch is a semaphore", File: scripts + "kind.lua", Pkg: redis,
			Old:  "return marked and not hasPermits(key) and LATCH or SEMAPHORE",
			New:  "return SEMAPHORE",
			Test: "TestLatchAndLockShareAName",
		},
		{
			Name: "redis: the mark of a latch stays", File: scripts + "countdown.lua", Pkg: redis,
			Old: "    redis.pcall('del', mark) -- Redisson has opened it\n", New: "", Test: "TestLatchOfRedisson",
		},
		{
			Name: "redis: Java hears of no latch with a tag", File: "lock/redislock/latch_channel.go", Pkg: redis,
			Old:  "if known && !sharded ||",
			New:  "if true || known && !sharded ||",
			Test: "TestRedissonAwaitsALatchWithATag",
		},
	}
}
