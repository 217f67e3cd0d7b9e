package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// kindRedisMutants are faults in read-write locks on Redis.
func kindRedisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: a mutex overwrites a read-write lock", File: scripts + "held.lua", Pkg: redis,
			Old: "  if about[4] == 'read' or about[4] == 'write' then\n",
			New: "  if false then\n", Test: onRedis("KindsMeet"),
		},
		{
			Name: "redis: a read-write lock overwrites a mutex", File: scripts + "kind.lua", Pkg: redis,
			Old:  "      return MUTEX\n",
			New:  "      return READWRITE\n",
			Test: onRedis("KindsMeet"),
		},
		{
			Name: "redis: the dead count as readers", File: scripts + "rw.lua", Pkg: redis,
			Old:  "  local left = lifeOf(lock, owner, count)\n",
			New:  "  local left = math.max(lifeOf(lock, owner, count), 1)\n",
			Test: onRedis("DeadReaderIsKeptAliveByOthers"),
		},
		{
			Name: "redis: the lock ends with the reader that leaves", File: scripts + "rw_release.lua", Pkg: redis,
			Old: "  call('pexpire', lock, left)\n",
			New: "  call('del', lock)\n", Test: onRedis("ReleaseOfAReaderFreesOthers"),
		},
		{
			Name: "redis: a reader keeps its writer alive", File: scripts + "rw.lua", Pkg: redis,
			Old:  "  local life = redis.call('pttl', holdKey(lock, owner .. ':write', 1))\n",
			New:  "  local life = redis.call('pttl', lock)\n",
			Test: onRedis("WriterIsKeptByItsReader"),
		},
		{
			Name: "redis: dead readers are remembered", File: scripts + "rw.lua", Pkg: redis,
			Old: "    redis.call('hdel', holders, owner)\n  end\n  return left\n", New: "  end\n  return left\n",
			Test: "TestDeadReadersAreRemembered",
		},
		{
			Name: "redis: somebody's fields are dead readers", File: scripts + "rw.lua", Pkg: redis,
			Old: "  if left <= 0 and not isOwner(owner, holders) then\n", New: "  if false then\n",
			Test: "TestSomebodysHashIsTakenForAReadWriteLock",
		},
		{
			Name: "redis: somebody's hash is a read-write lock", File: scripts + "kind.lua", Pkg: redis,
			Old: "    elseif redis.call('pttl', key) >= 0 or hasOwnersOnly(key) then\n", New: "    else\n",
			Test: "TestSomebodysHashIsTakenForAReadWriteLock",
		},
		{
			Name: "redis: writers pass readers who wait", File: scripts + "rw_acquire.lua", Pkg: redis,
			Old: "  local first = over == '' and call('hkeys', turn)[1]\n", New: "  local first\n",
			Test: onRedis("WriterPassesReadersWhoWait"),
		},
	}
}

func sharingRedisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: a writer wakes one reader", File: scripts + "rw_release.lua", Pkg: redis,
			Old: "    return tellAll(channel)\n", New: "    return tell(channel, '0')\n",
			Test: "TestJavaAboutToSleepMissesAWriter",
		},
		{
			Name: "redis: who is about to sleep misses a writer", File: scripts + "tell.lua", Pkg: redis,
			Old: "  tell(channel, '00')\n", New: "", Test: "TestJavaAboutToSleepMissesAWriter",
		},
		{
			Name: "redis: a writer is heard of twice", File: "lock/redislock/watch.go", Pkg: redis,
			Old: "	if text != repeated {\n", New: "	if true {\n", Test: "TestAWriterIsHeardOfTwice",
		},
		{
			Name: "redis: a repeated release of a reader fails", File: scripts + "rw_release.lua", Pkg: redis,
			Old: "  return call('exists', latch) == 1 and 0 or -1\n",
			New: "  return -1\n", Test: onRedis("ReleaseOfAReaderFreesOthers"),
		},
		{
			Name: "redis: a repeated reader is a new one", File: scripts + "rw_acquire.lua", Pkg: redis,
			Old:  "or not writes and call('hexists', lock, field) == 1 and call('exists', hold) == 1 then\n",
			New:  "then\n",
			Test: onRedis("RetriedReaderCountsTwice"),
		},
		{
			Name: "redis: writers claim nothing", File: scripts + "rw_acquire.lua", Pkg: redis,
			Old:  "  call('set', claim, owner, 'px', ARGV[8])\n",
			New:  "",
			Test: onRedis("WriterWhoGaveUpKeepsReadersOff"),
		},
		{
			Name: "redis: a claim outlives its writer", File: scripts + "rw_release.lua", Pkg: redis,
			Old:  "  local freed = call('get', claim) == owner and call('del', claim) == 1\n",
			New:  "  local freed = false\n",
			Test: onRedis("WriterWhoGaveUpKeepsReadersOff"),
		},
		{
			Name: "redis: a reader's renewal keeps the others alive", File: scripts + "rw_renew.lua", Pkg: redis,
			Old: "    call('pexpire', hold, lease)\n", New: "", Test: onRedis("RenewedReadersExpire"),
		},
	}
}

func permitRedisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: permits that are over are not taken back", File: scripts + "permit_count.lua", Pkg: redis,
			Old: "taken, '-inf', now) > 0 then", New: "taken, '-inf', 0) > 0 then",
			Test: onRedis("PermitsOfTheDeadAreLost"),
		},
		{
			Name: "redis: repeated permits are taken twice", File: scripts + "permit_acquire.lua", Pkg: redis,
			Old: "if has(taken, prefix, count, now) then\n",
			New: "if false then\n", Test: onRedis("RetriedPermitsCountTwice"),
		},
		{
			Name: "redis: permits are given back twice", File: scripts + "permit_release.lua", Pkg: redis,
			Old: "if away == 0 then\n  return gone()\nend\n", New: "away = math.max(away, count)\n",
			Test: "TestJavaCountsOtherPermits",
		},
		{
			Name: "redis: a lower limit is ignored", File: scripts + "permit_count.lua", Pkg: redis,
			Old: "  if there ~= before then\n", New: "  if there > before then\n", Test: "TestJavaCountsOtherPermits",
		},
		{
			Name: "redis: semaphores are not listed", File: "lock/redislock/inspect.go", Pkg: redis,
			Old:  "	if b.opts.Profile == Redisson {\n		scans",
			New:  "	if b.opts.Profile == Redlock {\n		scans",
			Test: onRedis("ListHidesAKind"),
		},
	}
}
