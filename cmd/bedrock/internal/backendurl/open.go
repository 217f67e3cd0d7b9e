package backendurl

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/lock/redislock/goredis"
)

// Backend opens clients of one location.
type Backend struct {
	loc   *Location
	store *memlock.Store // shared by the clients of a memory backend
	tls   *tls.Config
}

// Session is a client together with its connections.
type Session struct {
	*lock.Client
	conn redis.UniversalClient // nil in memory
}

// Close ends the client, releases what it holds and closes its connections.
func (s *Session) Close(ctx context.Context) error {
	err := s.Client.Close(ctx)
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
	b := &Backend{loc: loc, store: memlock.NewStore()}
	if loc.Options.TLS.On {
		if b.tls, err = loc.Options.TLS.config(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Memory reports whether the locks are only in this process.
func (b *Backend) Memory() bool { return b.loc.Kind == Memory }

// String returns the URL without credentials.
func (b *Backend) String() string { return b.loc.String() }

// Open returns a new client, independent of all others. The URL's ttl applies
// unless opts has one.
func (b *Backend) Open(opts lock.Options) (*Session, error) {
	opts.TTL = cmp.Or(opts.TTL, b.loc.Options.TTL)
	if b.Memory() {
		client, err := memlock.New(b.store, &opts)
		return &Session{Client: client}, err
	}
	conn := redis.NewUniversalClient(b.redisOptions())
	client, err := redislock.New(goredis.Wrap(conn), b.lockOptions(opts))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Session{Client: client, conn: conn}, nil
}

// Connect returns a client of the Redis. It connects when it is first used.
func (b *Backend) Connect() redis.UniversalClient { return redis.NewUniversalClient(b.redisOptions()) }

// Driver returns the backend without the front that makes locks of it, and what
// closes its connections after it.
func (b *Backend) Driver() (driver.Backend, func() error, error) {
	if b.Memory() {
		return memlock.NewBackend(b.store), func() error { return nil }, nil
	}
	conn := b.Connect()
	backend, err := redislock.NewBackend(goredis.Wrap(conn), b.lockOptions(lock.Options{}))
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return backend, conn.Close, nil
}

func (b *Backend) redisOptions() *redis.UniversalOptions {
	l := b.loc
	return &redis.UniversalOptions{
		Addrs:            l.Addrs,
		ClientName:       "bedrock",
		DB:               l.DB,
		Username:         l.Username,
		Password:         l.Password,
		MasterName:       l.Master,
		SentinelUsername: l.Options.SentinelUsername,
		SentinelPassword: l.Options.SentinelPassword,
		IsClusterMode:    l.Kind == Cluster,
		TLSConfig:        b.tls,
	}
}

func (b *Backend) lockOptions(opts lock.Options) *redislock.Options {
	o := b.loc.Options
	return &redislock.Options{
		Lock: opts, Profile: o.Profile, PubSub: o.PubSub,
		Acks: o.Acks, AckTimeout: o.AckTimeout, TokenTTL: o.TokenTTL,
	}
}

// config reads the certificates.
func (t *TLS) config() (*tls.Config, error) {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // only when the URL says so
	}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("backend URL: option ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, wrong("option ca", "names a file without a PEM certificate")
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("backend URL: options cert and key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
