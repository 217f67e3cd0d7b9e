// Package conformance says of every backend of locks in this module what its conformance test leaves out, and why. It
// is declared once: the tests exempt their backends from that, and docs/conformance.md is written from it.
package conformance

import (
	"maps"

	"github.com/bedrock-go/bedrock/lock/locktest"
)

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
	return []Backend{
		Memory(), Redis(), Redlock(), Sentinel(), Cluster(), ZooKeeper(), Ensemble(),
		Etcd(), EtcdCluster(), EtcdCompatible(), SQLite(), Postgres(), MySQL(), ShedPostgres(), ShedMySQL(),
		Advisory(), NamedLocks(),
		Quorum(), Combination(), Server(),
	}
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

// Etcd is etcdlock on one member.
func Etcd() Backend {
	return Backend{
		Name: "etcd", Folder: "lock/etcdlock", Test: "TestConformance",
		Exempt: map[locktest.Capability]string{
			locktest.Striking:            "a single member is restarted and frozen instead",
			locktest.Telling:             "who is refused writes nothing that a holder could hear of, so none lingers",
			locktest.Pleading:            "nobody listens for pleas",
			locktest.Attending:           "only the lines in which a client waits are watched",
			locktest.Voting:              "a cluster of etcd is several stores already",
			"TokenGoesBackAfterDataLoss": "tokens are revisions, which begin anew in an empty cluster",
			"StrangerIsStarved":          "whoever waits has a place in the line, and needs no gap in it",
		},
	}
}

// EtcdCluster is etcdlock on three members.
func EtcdCluster() Backend {
	b := Etcd()
	b.Name, b.Test = "etcd, three members", "TestConformanceCluster"
	delete(b.Exempt, locktest.Striking)
	b.Exempt[locktest.Freezing] = "shown on one member; here a leader is stopped"
	b.Exempt[locktest.Lagging] = "shown on one member"
	b.Exempt[locktest.Restarting] = "shown on one member; here a leader is killed"
	b.Exempt[locktest.Disconnecting] = "shown on one member"
	return b
}

// EtcdCompatible is etcdlock with the keys of etcdctl lock and concurrency.Mutex.
func EtcdCompatible() Backend {
	b := Etcd()
	b.Name, b.Test = "etcd, profile Compatible", "TestConformanceCompatible"
	for _, c := range []locktest.Capability{
		locktest.Sharing, locktest.Permitting, locktest.Downgrading, locktest.Latching,
	} {
		b.Exempt[c] = "those it is shared with have mutexes alone"
	}
	return b
}

// SQLite is locks in a file that several processes of one machine share.
func SQLite() Backend {
	b := Backend{Name: "SQLite", Folder: "lock/sqllock/sqlite", Test: "TestConformance", Exempt: database()}
	b.Exempt[locktest.Restarting] = "a file has no server"
	b.Exempt[locktest.Disconnecting] = "a file has no connections that could break"
	b.Exempt[locktest.Striking] = "a file has no server; that it is locked for a time is tested in locked_test.go"
	return b
}

// Postgres is locks in rows of PostgreSQL.
func Postgres() Backend {
	b := Backend{Name: "PostgreSQL", Folder: "lock/sqllock/postgres", Test: "TestConformance", Exempt: database()}
	b.Exempt[locktest.Striking] = "a single server is restarted and frozen instead"
	return b
}

// MySQL is locks in rows of MySQL, or MariaDB.
func MySQL() Backend {
	b := Backend{Name: "MySQL", Folder: "lock/sqllock/mysql", Test: "TestConformance", Exempt: database()}
	b.Exempt[locktest.Striking] = "a single server is restarted and frozen instead"
	b.Exempt[locktest.Watching] = "the database tells of nothing: who waits asks again and again"
	return b
}

// ShedPostgres is locks in ShedLock's table in PostgreSQL.
func ShedPostgres() Backend {
	return Backend{
		Name: "PostgreSQL, profile ShedLock", Folder: "lock/sqllock/postgres", Test: "TestShedLock", Exempt: shedLock(),
	}
}

// ShedMySQL is locks in ShedLock's table in MySQL, or MariaDB.
func ShedMySQL() Backend {
	return Backend{
		Name: "MySQL, profile ShedLock", Folder: "lock/sqllock/mysql", Test: "TestShedLock", Exempt: shedLock(),
	}
}

// shedLock is what locks in ShedLock's table cannot do.
func shedLock() map[locktest.Capability]string {
	const why = "the table has no place for it"
	exempt := map[locktest.Capability]string{
		locktest.Striking: "a single server is restarted and frozen instead",
		locktest.Watching: "the table tells of nothing: who waits asks again and again",
		locktest.Bundling: "ShedLock's statements are about one lock each",
		"MetadataIsLost":  why,
	}
	for _, c := range []locktest.Capability{
		locktest.Passing, locktest.Telling, locktest.Sharing, locktest.Permitting, locktest.Ordering, locktest.Noting,
		locktest.Downgrading, locktest.Latching, locktest.Pleading, locktest.Attending, locktest.Voting,
		locktest.Identifying,
	} {
		exempt[c] = why
	}
	return exempt
}

// Advisory is advisory locks of PostgreSQL.
func Advisory() Backend {
	return Backend{
		Name: "PostgreSQL, profile Advisory", Folder: "lock/sqllock/postgres", Test: "TestAdvisory", Exempt: session(),
	}
}

// NamedLocks is locks of MySQL, or MariaDB, by GET_LOCK.
func NamedLocks() Backend {
	return Backend{
		Name: "MySQL, profile NamedLocks", Folder: "lock/sqllock/mysql", Test: "TestNamedLocks", Exempt: session(),
	}
}

// session is what locks in the session of a connection cannot do.
func session() map[locktest.Capability]string {
	const (
		plain = "the database has mutexes"
		ends  = "a lock ends with its connection"
	)
	return map[locktest.Capability]string{
		locktest.Striking:    "a single server is restarted and frozen instead",
		locktest.Watching:    "who waits asks again and again: waiting at the server takes a connection for each name",
		locktest.Bundling:    "the database takes one at a time",
		locktest.Forcing:     "only the end of the holder's connection takes a lock away, and all others of it",
		locktest.Identifying: "a database has no name of its own",
		locktest.Noting:      "only who takes a lock writes",
		locktest.Passing:     plain,
		locktest.Telling:     "nobody tells that a lock is wanted, so none lingers",
		locktest.Sharing:     plain,
		locktest.Permitting:  plain,
		locktest.Ordering:    plain,
		locktest.Downgrading: plain,
		locktest.Latching:    plain,
		locktest.Pleading:    "nobody listens for pleas",
		locktest.Attending:   "a session is one client's",
		locktest.Voting:      "that nothing was forgotten cannot be told of locks that end with a connection",

		"LossStaysSilent":          "only the connection that has a lock gives it back",
		"LastMomentLooksEndless":   "the database does not know when a lock ends: who is refused looks again and again",
		"MetadataIsLost":           "the time left is not known",
		"RestartLosesTheLock":      ends,
		"RestartLosesTheWaiter":    ends,
		"DisconnectLosesTheWaiter": ends,
	}
}

// database is what locks in rows cannot do, whatever the database.
func database() map[locktest.Capability]string {
	const untold = "of what happens to a name all are told who wait for it, and nobody else"
	return map[locktest.Capability]string{
		locktest.Passing:   "who waits is woken, and asks: a grant in its name would be told by the same way",
		locktest.Telling:   untold,
		locktest.Pleading:  untold,
		locktest.Attending: untold,
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

// ZooKeeper is zklock on one server.
func ZooKeeper() Backend {
	return Backend{
		Name: "ZooKeeper", Folder: "lock/zklock", Test: "TestConformanceStandalone",
		Exempt: zookeeper(map[locktest.Capability]string{
			locktest.Striking: "a single server is restarted and frozen instead",
		}),
	}
}

// Ensemble is zklock on three servers, of which one is killed now and then.
func Ensemble() Backend {
	return Backend{
		Name: "ZooKeeper, three servers", Folder: "lock/zklock", Test: "TestConformanceEnsemble",
		Exempt: zookeeper(map[locktest.Capability]string{
			locktest.Freezing:   "shown on one server",
			locktest.Lagging:    "shown on one server",
			locktest.Restarting: "shown on one server; here one of three is killed",
		}),
	}
}

// zookeeper is what locks in ZooKeeper cannot do, and what they need not show besides.
func zookeeper(more map[locktest.Capability]string) map[locktest.Capability]string {
	const noUpgrade = "the nodes of a read-write lock do not tell who may become a writer"
	exempt := map[locktest.Capability]string{
		locktest.Telling: "a try that is refused writes nothing, and is not heard of: see tell_test.go",
		locktest.Ordering: "a place in the line ends with its process's session, where one that nobody keeps is " +
			"to be another's within seconds",
		locktest.Voting:      "tokens are the servers' own numbers, which nobody can raise",
		locktest.Identifying: "an ensemble has no name of its own",
		locktest.Bundling:    "a node is a place in a line, so no step grants several",
		locktest.Latching:    "the servers do not remember who has counted",
		locktest.Attending:   "a session is one client's",

		"UpgradeableReadersMeet":  noUpgrade,
		"UpgradeMeetsReaders":     noUpgrade,
		"UpgradeLetsAWriterIn":    noUpgrade,
		"UpgradesLetEachOtherIn":  noUpgrade,
		"WriterIsKeptByItsReader": noUpgrade,

		"WriterPassesReadersWhoWait":  "readers and writers stand in one line: who has come first goes first",
		"KindOfAWaitingWriterRemains": "the node of a writer who waits has the lock when nobody is before it",

		"LastMomentLooksEndless": "the servers tell of the end of every grant: nobody need know when that is",
		"StrangerIsStarved":      "the line is the servers': who does not stand in it has no turn",

		"ForgottenLockIsStillBelievedIn": "servers without their data take no client that has seen it, " +
			"until its session must be over",
		"TokenGoesBackAfterDataLoss": "tokens are the servers' own numbers, which begin anew with them",
	}
	maps.Copy(exempt, more)
	return exempt
}

// Server is the client of a server of Bedrock that has a store in memory.
func Server() Backend {
	return Backend{
		Name: "server", Folder: "client", Test: "TestLockConformance",
		Exempt: map[locktest.Capability]string{
			locktest.Telling:             "no grant of a server lingers; what else is told is tested in attend_test.go",
			locktest.Striking:            "a single server is restarted and frozen instead",
			locktest.Attending:           "the server attends for its clients, each of which is one",
			locktest.Identifying:         "the store in memory behind this server does not say who it is",
			"TokenGoesBackAfterDataLoss": "the store in memory behind this server has nothing to remember tokens by",
		},
	}
}

// ServerOn is what a server leaves out that keeps its locks in a store: what the store does, but for what becomes of
// that, which is not the server's.
func ServerOn(store Backend) map[locktest.Capability]string {
	left := Server().Exempt
	delete(left, locktest.Identifying)
	for capability, why := range store.Exempt {
		switch capability {
		case locktest.Freezing, locktest.Lagging, locktest.Disconnecting, locktest.Restarting, locktest.Striking:
		default:
			left[capability] = why
		}
	}
	if store.Exempt[locktest.Attending] != "" {
		left[locktest.Passing] = "the store passes locks on to the server, and not to one of its clients"
	}
	const stays = "a server that starts again finds all data in its store"
	left["TokenGoesBackAfterDataLoss"], left["ForgottenLockIsStillBelievedIn"] = stays, stays
	return left
}
