package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// besideJava names a scene with the newest Redisson on one server.
func besideJava(scene string) string { return "TestRedisson/4.7.0/" + scene }

// interopMutants are words of the protocol that Java does not understand: a key, a channel or a message.
func interopMutants() []mutants.Mutant {
	const (
		scripts = "lock/redislock/scripts/"
		layout  = "lock/redislock/layout.go"
		interop = "interop"
	)
	return []mutants.Mutant{
		{
			Name: "interop: releases are told by another message", File: scripts + "release_alone.lua", Pkg: interop,
			Old: "redis.call(ARGV[1], KEYS[2], '0')", New: "redis.call(ARGV[1], KEYS[2], '2')",
			Test: besideJava("LockJavaIsWoken"),
		},
		{
			Name: "interop: releases are told on another channel", File: layout, Pkg: interop,
			Old: `channel: "redisson_lock__channel:"`, New: `channel: "redisson_lock_channel:"`,
			Test: besideJava("LockGoIsWoken"),
		},
		{
			Name: "interop: tokens have another key", File: layout, Pkg: interop,
			Old: `token: "redisson_lock_token:"`, New: `token: "redisson_lock_tokens:"`,
			Test: besideJava("TokensRise"),
		},
		{
			Name: "interop: releases of readers and writers are told on another channel", File: layout, Pkg: interop,
			Old: `"redisson_rwlock:"`, New: `"redisson_rwlocks:"`,
			Test: besideJava("ReaderGoIsWoken"),
		},
		{
			Name: "interop: the end of a reader has another key", File: scripts + "rw.lua", Pkg: interop,
			Old: "':rwlock_timeout:'", New: "':rwlock_timeouts:'",
			Also: []mutants.Edit{{
				File: "lock/redislock/readwrite.go", Old: `":rwlock_timeout:1"`, New: `":rwlock_timeouts:1"`,
			}},
			Test: besideJava("GoReads"),
		},
		{
			Name: "interop: the line has another key", File: scripts + "keys.lua", Pkg: interop,
			Old: "'redisson_lock_queue:'", New: "'redisson_lock_queues:'",
			Test: besideJava("FairJavaIsWoken"),
		},
		{
			Name: "interop: permits are told on another channel", File: layout, Pkg: interop,
			Old: `"redisson_sc:"`, New: `"redisson_s:"`,
			Test: besideJava("PermitGoIsWoken"),
		},
		{
			Name: "interop: permits that are taken have another key", File: layout, Pkg: interop,
			Old: `return tagged(name) + ":timeout"`, New: `return tagged(name) + ":timeouts"`,
			Test: besideJava("PermitExcludes"),
		},
		{
			Name: "interop: an open latch is told by another message",
			File: scripts + "countdown_down.lua", Pkg: interop,
			Old: "tellAwaiting('0')", New: "tellAwaiting('2')",
			Test: besideJava("LatchJavaIsWoken"),
		},
	}
}
