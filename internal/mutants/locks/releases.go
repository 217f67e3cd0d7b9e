package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// serveMutants are faults in where a server has its locks, and in what is released beside something else.
func serveMutants() []mutants.Mutant {
	const program, store, place = "cmd/bedrock", "internal/storeurl", "internal/lockurl"
	return []mutants.Mutant{
		{
			Name: "serve: servers of one store have locks of their own", File: store + "/parse.go", Pkg: program,
			Old:  "	default:\n		return l.source\n	}\n}\n\n// Shared",
			New:  "	default:\n		return memory\n	}\n}\n\n// Shared",
			Test: "TestReplicasGrantALockTwice/redis",
		},
		{
			Name: "serve: the locks of a file are those of the server", File: place + "/file.go", Pkg: program,
			Old: "ForOthers: by == forOthers", New: "ForOthers: by != by", Test: "TestRestartedServerGrantsALockTwice",
		},
		{
			Name: "sqlite: what others have ends with the process", File: lockFile + "/alive.go", Pkg: lockFile,
			Old: " || f.opts.ForOthers {", New: " {", Test: "TestGrantsOfOthersOutliveTheProcess",
		},
		{
			Name: "serve: locks that end with its session are given out", File: place + "/open.go", Pkg: program,
			Old: "		return at.lends()\n", New: "		_ = at.lends()\n		return nil\n",
			Test: "TestLocksThatEndWithTheServerAreRefused",
		},
		{
			Name: "a place in line outlives its client", File: "lock/acquire_contest.go", Pkg: "lock",
			Old: "		k.waited = k.waited || k.req.Waits\n	}\n	if isClosed(k.q.client.closed) {\n" +
				"		return opError(\"lock\", k.req.Name, ErrClosed)\n	}\n	if held {\n",
			New: "	}\n	if isClosed(k.q.client.closed) {\n" +
				"		return opError(\"lock\", k.req.Name, ErrClosed)\n	}\n	if held {\n" +
				"		k.waited = k.waited || k.req.Waits\n",
			Test: "TestStopLeavesAPlaceInLine",
		},
		{
			Name: "etcd: the rest of a least time is a whole life", File: etcd + "/renew.go", Pkg: etcd,
			Old: "g.TTL), by.isTooLong(g.TTL),", New: "g.TTL),", Test: "TestConformance/LeastTimeOutlivesItsClient",
		},
		{
			Name: "mysql: who has a connection waits for another", File: "lock/sqllock/internal/remote/store.go",
			Pkg: lockMySQL,
			Old: "tx.Querier = inlined{conn: tx.conn}", New: "tx.Querier = s.Querier()",
			Test: "TestDatabase/PoolIsUsedUp",
		},
		{
			Name: "redis: a transaction is the name of a lock", File: "lock/redislock/layout.go", Pkg: program,
			Old: "permitsKey, storeKey,", New: "permitsKey, permitsKey,", Test: "TestLocksReachTheStoresKeys",
		},
		{
			Name: "serve: nobody is warned of locks in memory", File: program + "/serve_locks.go", Pkg: program,
			Old: "	case p.store.Shared():\n", New: "	case p.store == nil:\n", Test: "TestLocksAreWithTheStore",
		},
	}
}
