// Package conformance says of every backend of locks in this module what its conformance test leaves out, and why. It
// is declared once: the tests exempt their backends from that, and docs/conformance.md is written from it.
package conformance

import "github.com/bedrock-go/bedrock/lock/locktest"

// Backend is what a conformance test is about.
type Backend struct {
	Name string
	// Folder and Test say which test it is. Others of the same backend leave out as much, or more.
	Folder, Test string
	// Exempt is what the test leaves out, and why.
	Exempt map[locktest.Capability]string
}

// Backends returns all of them.
func Backends() []Backend {
	return []Backend{Memory(), Redis(), Redlock(), Sentinel(), Cluster(), Quorum(), Combination(), Server()}
}

// Memory is memlock.
func Memory() Backend {
	return Backend{
		Name: "memory", Folder: "lock/memlock", Test: "TestConformanceInVirtualTime",
		Exempt: map[locktest.Capability]string{
			locktest.Identifying:   "who shares it has it in hand, and needs no name for it",
			locktest.Restarting:    "the store ends with the process",
			locktest.Disconnecting: "the store has no connections",
			locktest.Striking:      "the store is one piece of memory",
		},
	}
}

// Redis is redislock on one server.
func Redis() Backend {
	return Backend{
		Name: "Redis", Folder: "lock/redislock", Test: "TestConformanceStandalone",
		Exempt: map[locktest.Capability]string{
			locktest.Striking: "a single server is restarted and frozen instead",
		},
	}
}

// Redlock is redislock with the keys of Redlock's libraries.
func Redlock() Backend {
	const why = "the layout has no place for it"
	b := Redis()
	b.Name, b.Test = "Redis, profile Redlock", "TestConformanceRedlockProfile"
	b.Exempt["MetadataIsLost"] = why
	for _, c := range []locktest.Capability{
		locktest.Passing, locktest.Telling, locktest.Sharing, locktest.Permitting, locktest.Ordering, locktest.Noting,
		locktest.Downgrading, locktest.Latching, locktest.Pleading, locktest.Attending,
	} {
		b.Exempt[c] = why
	}
	return b
}

// Sentinel is redislock on a server with a replica, which fails over.
func Sentinel() Backend {
	return Backend{
		Name: "Sentinel", Folder: "lock/redislock", Test: "TestConformanceSentinel",
		Exempt: map[locktest.Capability]string{
			locktest.Freezing:   "shown on one server; here it is a fail-over",
			locktest.Lagging:    "shown on one server",
			locktest.Restarting: "shown on one server; here it is a fail-over",
		},
	}
}

// Cluster is redislock on several servers, each of which has some of the names.
func Cluster() Backend {
	return Backend{
		Name: "Cluster", Folder: "lock/redislock", Test: "TestConformanceCluster",
		Exempt: map[locktest.Capability]string{
			locktest.Freezing:   "shown on one server",
			locktest.Passing:    "a cluster wakes who waits",
			locktest.Lagging:    "shown on one server: those of a cluster tell clients their own addresses",
			locktest.Restarting: "shown on one server",
		},
	}
}

// Quorum is package quorum on five servers of Redis.
func Quorum() Backend {
	return Backend{
		Name: "quorum", Folder: "lock/quorum", Test: "TestConformanceInRedis", Exempt: severalStores(),
	}
}

// Combination is package combination on three servers of Redis.
func Combination() Backend {
	return Backend{
		Name: "combination", Folder: "lock/combination", Test: "TestConformanceInRedis", Exempt: severalStores(),
	}
}

// severalStores is what backends on several stores cannot do, whatever the stores can.
func severalStores() map[locktest.Capability]string {
	return map[locktest.Capability]string{
		locktest.Passing:     "no store alone can pass the lock on",
		locktest.Sharing:     "a writer who waits would have to be known to each node while it is refused by others",
		locktest.Downgrading: "there are no writers",
		locktest.Permitting:  "nodes that know nothing of each other grant more permits than each of them has",
		locktest.Ordering:    "each node would have a line of its own",
		locktest.Telling:     "nobody tells that a lock is wanted, so none lingers",
		locktest.Bundling:    "no step is one at several nodes",
		locktest.Noting:      "a node that does not answer would tell the old one",
		locktest.Latching:    "counts of nodes that know nothing of each other differ",
		locktest.Voting:      "it is no store of several itself",
		locktest.Identifying: "it is no store of several itself",
	}
}

// Server is the client of a server of Bedrock that has a store in memory.
func Server() Backend {
	return Backend{
		Name: "server", Folder: "client", Test: "TestLockConformance",
		Exempt: map[locktest.Capability]string{
			locktest.Telling:             "no grant of a server lingers; what else is told is tested in attend_test.go",
			locktest.Passing:             "a server wakes who waits",
			locktest.Striking:            "a single server is restarted and frozen instead",
			locktest.Attending:           "the server attends for its clients, each of which is one",
			locktest.Identifying:         "the store in memory behind this server does not say who it is",
			"TokenGoesBackAfterDataLoss": "the store in memory behind this server has nothing to remember tokens by",
		},
	}
}
