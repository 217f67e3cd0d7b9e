package lockurl

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Backend opens clients of one location, or of several that make one lock.
type Backend struct {
	loc   *Location
	union *union // of several; then there is no location
}

// Session is a client together with its connections.
type Session struct {
	*lock.Client

	// EndsLocks says that all its locks end with it, whatever time they have left.
	EndsLocks bool
	hangUp    func() error // closes the connections
}

// NewSession is a client together with what closes its connections.
func NewSession(client *lock.Client, hangUp func() error) *Session {
	return &Session{Client: client, hangUp: hangUp}
}

// Stop ends the client, releases what it holds and closes its connections.
func (s *Session) Stop(ctx context.Context) error {
	return errors.Join(s.Client.Stop(ctx), s.hangUp())
}

// New prepares a backend: it reads certificates, and connects to nothing.
func New(text string) (*Backend, error) {
	loc, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if err := loc.readFiles(); err != nil {
		return nil, asBackendError(err)
	}
	return &Backend{loc: loc}, nil
}

// Memory reports whether the locks are only in this process.
func (b *Backend) Memory() bool {
	if b.union != nil {
		return b.union.nodes[0].Memory() // and so are the others
	}
	return b.loc.Memory()
}

// String returns the URL without credentials, or all of them.
func (b *Backend) String() string {
	if b.union != nil {
		return b.union.String()
	}
	return b.loc.String()
}

// Open returns a new client, independent of all others. The URL's ttl applies
// unless opts has one.
func (b *Backend) Open(opts lock.Options) (*Session, error) {
	opts.TTL = cmp.Or(opts.TTL, b.ttl())
	backend, hangUp, err := b.connect(opts, own)
	if err != nil {
		return nil, err
	}
	client, err := lock.New(backend, &opts)
	if err != nil {
		return nil, errors.Join(err, backend.Close(), hangUp())
	}
	return &Session{Client: client, EndsLocks: b.Lends() != nil, hangUp: hangUp}, nil
}

// Driver returns the backend without the front that makes locks of it, and what
// closes its connections after it.
func (b *Backend) Driver() (driver.Backend, func() error, error) {
	return b.connect(lock.Options{TTL: b.ttl()}, own)
}

// DriverForOthers is [Backend.Driver] for a server, whose clients have what is granted whatever becomes of the server.
// See [Backend.Lends].
func (b *Backend) DriverForOthers() (driver.Backend, func() error, error) {
	return b.connect(lock.Options{TTL: b.ttl()}, forOthers)
}

// MakeTables makes the tables of locks where they need some and there are none, as the first request of a client does
// that may. It reports whether they need any.
func (b *Backend) MakeTables(ctx context.Context) (needed bool, err error) {
	if b.union != nil {
		return false, nil
	}
	at, needed := b.loc.place.(tabular)
	if !needed {
		return false, nil
	}
	return true, at.makeTables(ctx)
}

// LeaveTables has nobody make tables of locks in databases but [Backend.MakeTables].
func (b *Backend) LeaveTables() {
	if b.union != nil {
		for _, node := range b.union.nodes {
			node.LeaveTables()
		}
		return
	}
	if at, ok := b.loc.place.(schematic); ok {
		at.leaveTables()
	}
}

// Lends says by an error why a server cannot give out its locks.
func (b *Backend) Lends() error {
	if b.union != nil {
		return nil // what could not is no part of it
	}
	if at, ok := b.loc.place.(personal); ok {
		return at.lends()
	}
	return nil
}

// ttl is what the URL says of it, or several that agree.
func (b *Backend) ttl() time.Duration {
	if b.union != nil {
		return b.union.ttl
	}
	return b.loc.TTL
}

// connect returns a backend for clients with those options, and what closes its connections. It connects when it is
// first used.
func (b *Backend) connect(opts lock.Options, by use) (driver.Backend, func() error, error) {
	if b.union != nil {
		return b.union.connect(opts, by)
	}
	return b.loc.connect(opts, by)
}
