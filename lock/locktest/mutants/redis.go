package main

const redis = "lock/redislock"

// onRedis names a behaviour of the conformance suite on one Redis server.
func onRedis(behaviour string) string { return "TestConformanceStandalone/goredis/" + behaviour }

// redisMutants are faults in the Redis backend and its scripts.
func redisMutants() []mutant {
	const scripts = "lock/redislock/scripts/"
	return []mutant{
		{
			name: "redis: anybody may release", file: scripts + "release.lua", pkg: redis,
			old: "if call('hexists', lock, owner) == 0 then", new: "if call('exists', lock) == 0 then",
			test: onRedis("StrangerReleases"),
		},
		{
			name: "redis: a batch gives everybody the first answer", file: "lock/redislock/batcher.go", pkg: redis,
			old: "answer(reply.Items[i])", new: "answer(reply.Items[0])",
			test: "TestOneOfABatchSpoilsTheOthers/goredis",
		},
		{
			name: "redis: renewal re-creates", file: scripts + "renew.lua", pkg: redis,
			old:  "    answer[i] = 0\n",
			new:  "    redis.call('hset', key, ARGV[2 * i - 1], '1')\n    answer[i] = redis.call('pexpire', key, ARGV[2 * i])\n",
			test: onRedis("RenewalCreatesALock"),
		},
		{
			name: "redis: a repeated release fails", file: scripts + "release.lua", pkg: redis,
			old: "    if call('get', latch) == owner then", new: "    if false then",
			test: onRedis("RetriedReleaseFails"),
		},
		{
			name: "redis: a repeated acquire is refused", file: scripts + "acquire.lua", pkg: redis,
			old: "    if call('hexists', lock, owner) == 0 then", new: "    if true then",
			test: onRedis("RetriedAcquireCountsTwice"),
		},
		{
			name: "redis: the token has no floor", file: scripts + "acquire.lua", pkg: redis,
			old: "    clock = time[1] .. micros\n", new: "    clock = '0'\n",
			test: onRedis("TokenGoesBackAfterDataLoss"),
		},
		{
			name: "redis: a forced release keeps the token", file: scripts + "force.lua", pkg: redis,
			old: "math.max(old + 2, now)", new: "old",
			test: onRedis("ForcedReleaseKeepsTheToken"),
		},
		{
			name: "redis: a release tells nobody", file: scripts + "release.lua", pkg: redis,
			old: "  local listening = call(ARGV[1], channel, '0')", new: "  local listening = 0",
			test: onRedis("ReleaseWakesNobody"),
		},
		{
			name: "redis: a new subscription wakes nobody", file: "lock/redislock/topic.go", pkg: redis,
			old: "		err := t.subscribe(true)\n		t.wakeAll()\n", new: "		err := t.subscribe(true)\n",
			test: "TestReconnectWakesEverybody/goredis",
		},
		{
			name: "redis: WAIT goes over another connection", file: "lock/redislock/goredis/goredis.go", pkg: redis,
			old: "	wait := &command{Cmd: redis.NewCmd(ctx, \"wait\", replicas, timeout.Milliseconds())}\n" +
				"	_ = pipe.Process(ctx, wait)\n	_, _ = pipe.Exec(ctx)\n",
			new: "	other := c.client.(*redis.Client).Conn()\n	defer other.Close()\n	_ = other.Ping(ctx)\n" +
				"	_, _ = pipe.Exec(ctx)\n" +
				"	wait := &command{Cmd: redis.NewCmd(ctx, \"wait\", replicas, timeout.Milliseconds())}\n" +
				"	_ = other.Process(ctx, wait)\n",
			test: "TestWaitAsksAnotherConnection/goredis",
		},
		{
			name: "redis: an unacknowledged grant counts", file: "lock/redislock/ack.go", pkg: redis,
			old: "err != nil || refused(reply) || got >= need {", new: "err != nil || refused(reply) || got >= 0 {",
			test: "TestUnacknowledgedGrantIsTakenBack/goredis",
		},
	}
}
