package lockurl

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// Backend opens clients of one location, or of several that make one lock.
type Backend struct {
	loc   *Location
	store *memlock.Store          // shared by the clients of a memory backend
	redis *redis.UniversalOptions // nil in memory
	union *union                  // of several; then there is none of the above
}

// Session is a client together with its connections.
type Session struct {
	*lock.Client
	hangUp func() error // closes the connections
}

// NewSession is a client together with what closes its connections.
func NewSession(client *lock.Client, hangUp func() error) *Session { return &Session{client, hangUp} }

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
	b := &Backend{loc: loc, store: memlock.NewStore(nil)}
	if b.Memory() {
		return b, nil
	}
	if b.redis, err = loc.ClientOptions(); err != nil {
		return nil, asBackendError(err)
	}
	return b, nil
}

// Memory reports whether the locks are only in this process.
func (b *Backend) Memory() bool {
	if b.union != nil {
		return b.union.nodes[0].Memory() // and so are the others
	}
	return b.loc.Memory
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
	backend, hangUp, err := b.connect(opts)
	if err != nil {
		return nil, err
	}
	client, err := lock.New(backend, &opts)
	if err != nil {
		return nil, errors.Join(err, backend.Close(), hangUp())
	}
	return &Session{client, hangUp}, nil
}

// Driver returns the backend without the front that makes locks of it, and what
// closes its connections after it.
func (b *Backend) Driver() (driver.Backend, func() error, error) {
	return b.connect(lock.Options{TTL: b.ttl()})
}

// ttl is what the URL says of it, or several that agree.
func (b *Backend) ttl() time.Duration {
	if b.union != nil {
		return b.union.ttl
	}
	return b.loc.Options.Lock.TTL
}

// connect returns a backend for clients with those options, and what closes its connections. It connects when it is
// first used.
func (b *Backend) connect(opts lock.Options) (driver.Backend, func() error, error) {
	switch {
	case b.union != nil:
		return b.union.connect(opts)
	case b.Memory():
		return memlock.NewBackend(b.store), func() error { return nil }, nil
	}
	conn := redis.NewUniversalClient(b.redis)
	backend, err := redislock.NewBackend(goredis.Wrap(conn), b.loc.LockOptions(opts))
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return backend, conn.Close, nil
}
