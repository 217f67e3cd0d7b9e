package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/lock"
)

// job is what a worker process is started for.
type job struct {
	Worker string // such as w1
	Life   string // such as w1.3, for its third life
	Seed   uint64
	Dir    string // of the history
	// Clients are the URLs of its clients, one each; see open.
	Clients []target
	Guard   string // where the guarded resource is
	Server  string // the URL of a Bedrock server, with nothing in between; empty: there is none
	// Hands are goroutines on shared names per client, Keepers those on names of their own.
	Hands, Keepers int
	Prefix         string // of all names
	Kin            kin    // what it is to a lock that is passed on
	Pair           string // the name shared with one other worker
	TTL            time.Duration
	Long           time.Duration
	HandOff        lock.HandOff
}

// target is a backend and how to reach it.
type target struct {
	URL     string
	Library string // goredis, rueidis or server
	Older   bool   // an older version of it
}

// The shared names.
const (
	hotNames  = 4
	longNames = 3
)
