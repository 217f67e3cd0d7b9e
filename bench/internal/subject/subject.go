// Package subject holds what the benchmark compares: Bedrock, the lock
// libraries a Go user would pick instead, and the floors beneath them.
//
// Every subject is set up as its documentation says, with its default settings
// except for a longer lease, so that no lock expires under a slow machine.
package subject

import (
	"context"
	"slices"
	"time"
)

// Lease is how long locks live without renewal unless a workload says otherwise.
const Lease = 30 * time.Second

// Role says what a subject is compared as.
type Role int

// The roles.
const (
	// Bedrock is the library under test.
	Bedrock Role = iota
	// Peer is a lock library to be compared with.
	Peer
	// Raw is the fewest commands that make a lock, without waiting.
	Raw
	// Local is a mutex of this process alone.
	Local
	// Message is no lock, but the fewest messages from one process to another.
	Message
	// Lingering is the library under test where locks linger.
	Lingering
	// Quorum is the library under test where a lock is the votes of several servers.
	Quorum
	// Combination is the library under test where a lock is taken at one server after the other.
	Combination
	// Made is what the library under test makes of mutexes, to be compared with mutexes of its own.
	Made
	// Java is a lock of Redisson's, to be compared with apart from the peers of Go.
	Java
	// Ping is no lock, but one request that says nothing, and its answer.
	Ping
)

// Subject is one thing to measure.
type Subject struct {
	// Name is how reports call it.
	Name string
	// Role says what it is compared as.
	Role Role
	// Store is where its locks are. Subjects are compared on one store.
	Store Store
	// Client is the client of the store it talks through, empty for none.
	Client string
	// Tuned marks a variant of another subject that differs only in how it
	// waits, and so needs no measurement where nobody waits.
	Tuned bool
	// Poll is the longest pause between two tries of a waiter, 0 when waiters
	// are woken.
	Poll time.Duration
	// Kind says what it locks with.
	Kind Kind
	// Servers is how many servers it needs that know nothing of each other, 0 for one.
	Servers int
	// Pinned says that everybody who waits has a connection, of which a server has some hundreds.
	Pinned bool
	// Plain are the commands it sends beside its scripts.
	Plain []string
	// Open connects it to the server of a site, or to as many as it needs; its locks
	// live for lease without renewal.
	Open func(ctx context.Context, at Site, lease time.Duration) (Locker, error)
	// Program returns the command of a worker that is no program of Go's, and does without Open; nil for this
	// program. It is slow to start: a quick run leaves it out unless it is asked for.
	Program func(ctx context.Context) ([]string, error)
}

// Site is where the servers are.
type Site struct {
	// Addr is the address of the server that all subjects of a store use, as that store has it: of databases it is what
	// their drivers are told, and of files the folder they are in.
	Addr string
	// More are those of others, for subjects that need several.
	More []string
	// Delay is how much longer every answer takes that comes through go-redis.
	Delay time.Duration
}

// Locker is a subject as one process of a user's service has it.
type Locker interface {
	// Mutex returns a lock on name for the use of one goroutine.
	Mutex(name string) Mutex
	// Close disconnects.
	Close() error
}

// Mutex is a distributed lock in one goroutine's hands. It remembers what it
// holds, so that the interface costs the subjects no allocation.
type Mutex interface {
	// Lock waits for the lock until ctx ends.
	Lock(ctx context.Context) error
	// Unlock gives it back.
	Unlock(ctx context.Context) error
}

// Lasting is implemented by mutexes that know whether they still hold.
type Lasting interface {
	// Held reports whether the lock is still held.
	Held() bool
}

// All returns every subject in the order of the reports.
func All() []Subject {
	return slices.Concat(onRedis(), onEtcd(), onZooKeeper(), onPostgres(), onMariaDB(), onSQLite())
}

// onRedis returns those whose locks are in Redis, and those that need no server.
func onRedis() []Subject {
	return []Subject{
		bedrockGoredis("bedrock-goredis", 0),
		bedrockRueidis("bedrock-rueidis", 0),
		bedrockGoredis("bedrock-goredis-linger", linger),
		bedrockRueidis("bedrock-rueidis-linger", linger),
		redsyncGoredis("redsync-goredis", 0),
		redsyncRueidis("redsync-rueidis"),
		redsyncGoredis("redsync-goredis-5ms", 5*time.Millisecond),
		bsmRedislock("redislock", 100*time.Millisecond),
		bsmRedislock("redislock-1ms", time.Millisecond),
		rueidislocker("rueidislock-1key", 1),
		rueidislocker("rueidislock", 2),
		rawGoredis(),
		rawRueidis(),
		messageGoredis(),
		localMutex(),
		fair(bedrockGoredis("bedrock-goredis-fair", 0)),
		fair(bedrockRueidis("bedrock-rueidis-fair", 0)),
		redisson("redisson-fair", Fair, Peer),
		redisson("redisson-rlock", Plain, Java),
		readWrite(bedrockGoredis("bedrock-goredis-rw", 0)),
		readWrite(bedrockRueidis("bedrock-rueidis-rw", 0)),
		redisson("redisson-rw", ReadWrite, Java),
		permits(bedrockGoredis("bedrock-goredis-semaphore", 0)),
		permits(bedrockRueidis("bedrock-rueidis-semaphore", 0)),
		redisson("redisson-semaphore", Permits, Java),
		oneStep(bedrockGoredis("bedrock-goredis-multi", 0)),
		oneStep(bedrockRueidis("bedrock-rueidis-multi", 0)),
		inTurn(bedrockGoredis("bedrock-goredis-in-turn", 0)),
		inTurn(bedrockRueidis("bedrock-rueidis-in-turn", 0)),
		elections(bedrockGoredis("bedrock-goredis-election", 0)),
		elections(bedrockRueidis("bedrock-rueidis-election", 0)),
		bedrockQuorum("bedrock-quorum-5", 5),
		bedrockCombination("bedrock-combination-3", 3),
		redsyncServers("redsync-goredis-5", 5),
	}
}

// Find returns the subject called name.
func Find(name string) (Subject, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Subject{}, false
}
