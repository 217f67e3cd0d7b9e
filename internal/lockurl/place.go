package lockurl

import (
	"context"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// place is where the locks of a URL are: a file for each kind.
type place interface {
	// String returns it without user name and password.
	String() string
	// TLS reports whether it is spoken to over TLS.
	TLS() bool
	// readFiles reads the files that it names, such as certificates.
	readFiles() error
	// connect returns a backend, and what closes its connections. It connects when it is first used.
	connect(opts lock.Options, by use) (driver.Backend, func() error, error)
	// meets returns an address at which both are; empty: they can be different stores.
	meets(other place) string
}

// reachable is a place with servers.
type reachable interface {
	// onlyServer is the host and port of the one that there is, if it can be spoken to by another way; else empty.
	onlyServer() string
}

// personal is a place where locks end with who is connected to it.
type personal interface {
	// lends says by an error that nobody can have its locks for others.
	lends() error
}

// single is a place that may be none of several that make one lock.
type single interface {
	// standsAlone says why; empty: it may.
	standsAlone() string
}

// tabular is a place that needs tables.
type tabular interface {
	// makeTables makes them if there are none.
	makeTables(ctx context.Context) error
}

// schematic is a place whose tables somebody else may have to make.
type schematic interface {
	// leaveTables has nobody make them but makeTables.
	leaveTables()
}

// use is what a backend is for.
type use uint8

const (
	own       use = iota // the locks of this process
	forOthers            // those of a server's clients, who have them whatever becomes of the server
)

// memory is that of this process, which the clients of one location share.
type memory struct{ store *memlock.Store }

func parseMemory(rest string) (*Location, error) {
	if rest != "" && rest != "//" {
		return nil, &Error{Part: "scheme mem", Problem: "takes nothing after it: write mem:"}
	}
	return &Location{place: &memory{memlock.NewStore(nil)}}, nil
}

// String implements place.
func (m *memory) String() string { return "mem:" }

// TLS implements place.
func (m *memory) TLS() bool { return false }

func (m *memory) readFiles() error { return nil }

func (m *memory) connect(lock.Options, use) (driver.Backend, func() error, error) {
	return memlock.NewBackend(m.store), func() error { return nil }, nil
}

// meets implements place: every memory is a store of its own.
func (m *memory) meets(place) string { return "" }
