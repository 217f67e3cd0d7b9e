package main

import "github.com/bedrock-go/bedrock/internal/mutants"

const redis = "lock/redislock"

// onRedis names a behaviour of the conformance suite on one Redis server.
func onRedis(behaviour string) string { return "TestConformanceStandalone/goredis/" + behaviour }

// redisMutants are faults in the Redis backend and its scripts.
func redisMutants() []mutants.Mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutants.Mutant{
		{
			Name: "redis: anybody may release", File: scripts + "release.lua", Pkg: redis,
			Old: "  if has[1] ~= '1' then", New: "  if call('exists', lock) == 0 then",
			Test: onRedis("StrangerReleases"),
		},
		{
			Name: "redis: a batch gives everybody the first answer", File: "lock/redislock/batcher.go", Pkg: redis,
			Old: "partOf(reply.At(i))", New: "partOf(reply.At(0*i))",
			Test: "TestOneOfABatchSpoilsTheOthers/goredis",
		},
		{
			Name: "redis: renewal re-creates", File: scripts + "renew.lua", Pkg: redis,
			Old: "    answer[i] = 0\n",
			New: "    redis.call('hset', key, ARGV[2 * i + 1], '1')\n" +
				"    answer[i] = redis.call('pexpire', key, ARGV[2 * i + 2])\n",
			Test: onRedis("RenewalCreatesALock"),
		},
		{
			Name: "redis: a repeated release fails", File: scripts + "release.lua", Pkg: redis,
			Old: "    if latchShut(latch, owner) then", New: "    if false then",
			Test: onRedis("RetriedReleaseFails"),
		},
		{
			Name: "redis: a repeated acquire is refused", File: scripts + "acquire_held.lua", Pkg: redis,
			Old: "  if about[1] ~= '1' then", New: "  if true then",
			Test: onRedis("RetriedAcquireCountsTwice"),
		},
		{
			Name: "redis: the token has no floor", File: scripts + "advance.lua", Pkg: redis,
			Old: "    clock = time[1] .. string.sub('00000' .. time[2], -6)\n", New: "    clock = '0'\n",
			Also: []mutants.Edit{{
				File: scripts + "acquire_free.lua",
				Old:  "if free and ARGV[6] < '~' then",
				New:  "if #KEYS == 0 then",
			}},
			Test: onRedis("TokenGoesBackAfterDataLoss"),
		},
		{
			Name: "redis: a forced release keeps the token", File: scripts + "force.lua", Pkg: redis,
			Old: "math.max(old + 2, now)", New: "old",
			Test: onRedis("ForcedReleaseKeepsTheToken"),
		},
		{
			Name: "redis: a release tells nobody", File: scripts + "release_alone.lua", Pkg: redis,
			Old: "    local listening = redis.call(ARGV[1], KEYS[2], '0')", New: "    local listening = 0",
			Test: onRedis("ReleaseWakesNobody"),
		},
		{
			Name: "redis: a new subscription wakes nobody", File: "lock/redislock/topic.go", Pkg: redis,
			Old: "	defer t.wakeAll()\n	defer t.wakeMeanwhile()()\n", New: "",
			Test: "TestReconnectWakesEverybody/goredis",
		},
		{
			Name: "redis: WAIT goes over another connection", File: "redisconn/goredis/goredis.go", Pkg: redis,
			Old: "	wait := &command{Cmd: redis.NewCmd(ctx, \"wait\", replicas, timeout.Milliseconds())}\n" +
				"	_ = pipe.Process(ctx, wait)\n	_, _ = pipe.Exec(ctx)\n",
			New: "	other := c.client.(*redis.Client).Conn()\n	defer other.Close()\n	_ = other.Ping(ctx)\n" +
				"	_, _ = pipe.Exec(ctx)\n" +
				"	wait := &command{Cmd: redis.NewCmd(ctx, \"wait\", replicas, timeout.Milliseconds())}\n" +
				"	_ = other.Process(ctx, wait)\n",
			Test: "TestWaitAsksAnotherConnection/goredis",
		},
		{
			Name: "redis: an unacknowledged grant counts", File: "lock/redislock/ack.go", Pkg: redis,
			Old: "case err == nil && got >= need,", New: "case err == nil,",
			Test: "TestUnacknowledgedGrantIsTakenBack/goredis",
		},
	}
}

// doubtMutants are faults in what is made of a call without an answer.
func doubtMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "redis: the next call is given a connection in doubt", File: "redisconn/goredis/idle.go", Pkg: redis,
			Old: "	if c.doubts.count.Load() == 0 ||", New: "	if c.doubts.count.Load() >= 0 ||",
			Test: "TestNextCallIsGivenADoubtedConnection",
		},
		{
			Name: "redis: a server that is away holds up the others", File: "redisconn/goredis/idle.go", Pkg: redis,
			Old: "	takingTime = 100 * time.Millisecond\n", New: "	takingTime = time.Minute\n",
			Test: "TestServerThatIsAwayHoldsUpAnother",
		},
		{
			Name: "redis: a request that was not sent is taken for silence",
			File: "lock/redislock/batcher.go", Pkg: redis,
			Old: "ok && left && !errors.Is(err, batch.ErrClosed) {", New: "ok && (left || true) {",
			Test: "TestRequestThatWasNotSentIsTakenForSilence",
		},
		{
			Name: "redis: who leaves a shared call says nothing", File: "lock/redislock/batcher.go", Pkg: redis,
			Old: "ok && left && !errors.Is(err, batch.ErrClosed) {", New: "ok && !left {",
			Test: "TestIdleConnectionsThatDiedOutlastPatience/rueidis",
		},
	}
}
