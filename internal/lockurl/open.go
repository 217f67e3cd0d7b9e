package lockurl

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// Backend opens clients of one location.
type Backend struct {
	loc   *Location
	store *memlock.Store          // shared by the clients of a memory backend
	redis *redis.UniversalOptions // nil in memory
}

// Session is a client together with its connections.
type Session struct {
	*lock.Client
	conn redis.UniversalClient // nil in memory
}

// Stop ends the client, releases what it holds and closes its connections.
func (s *Session) Stop(ctx context.Context) error {
	err := s.Client.Stop(ctx)
	if s.conn != nil {
		err = errors.Join(err, s.conn.Close())
	}
	return err
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
func (b *Backend) Memory() bool { return b.loc.Memory }

// String returns the URL without credentials.
func (b *Backend) String() string { return b.loc.String() }

// Open returns a new client, independent of all others. The URL's ttl applies
// unless opts has one.
func (b *Backend) Open(opts lock.Options) (*Session, error) {
	if b.Memory() {
		client, err := memlock.New(b.store, &opts)
		return &Session{Client: client}, err
	}
	conn := b.connect()
	client, err := redislock.New(goredis.Wrap(conn), b.loc.LockOptions(opts))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Session{Client: client, conn: conn}, nil
}

// connect returns a client of the Redis. It connects when it is first used.
func (b *Backend) connect() redis.UniversalClient { return redis.NewUniversalClient(b.redis) }

// Driver returns the backend without the front that makes locks of it, and what
// closes its connections after it.
func (b *Backend) Driver() (driver.Backend, func() error, error) {
	if b.Memory() {
		return memlock.NewBackend(b.store), func() error { return nil }, nil
	}
	conn := b.connect()
	backend, err := redislock.NewBackend(goredis.Wrap(conn), b.loc.LockOptions(lock.Options{}))
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return backend, conn.Close, nil
}
