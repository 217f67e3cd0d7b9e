package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	redis "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/serverurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// The libraries by which a backend is reached.
const (
	viaGoRedis = "goredis"
	viaRueidis = "rueidis"
	viaServer  = "server"
	viaURL     = "url" // whatever there is for it
)

// session is a client with its connections.
type session struct {
	*lock.Client

	hangUp func()
}

// opener opens clients of one target. The clients of a memory share it.
type opener func(opts lock.Options) (*session, error)

// newOpener opens clients of a target. What they see of a backend of Redis, or of a server, is what
// dress makes of it; nil: all.
func newOpener(t target, dress dresser) (opener, error) {
	switch t.Library {
	case viaServer:
		return func(opts lock.Options) (*session, error) { return openServer(&t, dress, opts) }, nil
	case viaRueidis:
		return func(opts lock.Options) (*session, error) { return openRueidis(&t, dress, opts) }, nil
	}
	backend, err := lockurl.New(t.URL)
	if err != nil {
		return nil, err
	}
	return func(opts lock.Options) (*session, error) {
		if dress != nil && t.Library == viaGoRedis && !backend.Memory() {
			return openDressed(backend, &t, dress, opts)
		}
		s, err := backend.Open(opts)
		if err != nil {
			return nil, err
		}
		return &session{s.Client, func() { _ = s.Stop(context.Background()) }}, nil
	}, nil
}

// dresser hides some of what a backend offers.
type dresser func(driver.Backend, *target) driver.Backend

func openDressed(location *lockurl.Backend, t *target, dress dresser, opts lock.Options) (*session, error) {
	backend, hangUp, err := location.Driver()
	if err != nil {
		return nil, err
	}
	locks, err := lock.New(dress(backend, t), &opts)
	if err != nil {
		return nil, errors.Join(err, backend.Close(), hangUp())
	}
	return &session{locks, func() { _ = hangUp() }}, nil
}

func openServer(t *target, dress dresser, opts lock.Options) (*session, error) {
	remote, err := client.Dial(t.URL, nil)
	if err != nil {
		return nil, err
	}
	backend := remote.Backend()
	if dress != nil {
		backend = dress(backend, t)
	}
	locks, err := lock.New(backend, &opts)
	if err != nil {
		return nil, err
	}
	return &session{locks, func() { _ = remote.Close() }}, nil
}

// dialPatience is how long rueidis, which connects before anybody asks for it, is given
// to find a server that may be down just now.
const dialPatience = 10 * time.Second

func openRueidis(t *target, dress dresser, opts lock.Options) (*session, error) {
	location, err := lockurl.Parse(t.URL)
	if err != nil {
		return nil, err
	}
	server := location.Redis()
	if server == nil {
		return nil, fmt.Errorf("%s is no Redis", location)
	}
	var conn redis.Client
	for end := time.Now().Add(dialPatience); ; {
		if conn, err = redis.NewClient(rueidisOptions(&server.Location)); err == nil {
			break
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("connect: %w", err)
		}
		time.Sleep(dialPatience / 100)
	}
	options := server.LockOptions(opts)
	backend, err := redislock.NewBackend(rueidis.Wrap(conn), options)
	if err != nil {
		conn.Close()
		return nil, err
	}
	if dress != nil {
		backend = dress(backend, t)
	}
	locks, err := lock.New(backend, &options.Lock)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &session{locks, conn.Close}, nil
}

func rueidisOptions(l *serverurl.Location) redis.ClientOption {
	o := redis.ClientOption{
		InitAddress: l.Addrs, Username: l.Username, Password: l.Password, SelectDB: l.DB, ClientName: "bedrock",
		DisableCache: true, ForceSingleClient: l.Kind == serverurl.Redis,
	}
	if l.Kind == serverurl.Sentinel {
		o.Sentinel = redis.SentinelOption{
			MasterSet: l.Master, Username: l.SentinelUsername, Password: l.SentinelPassword,
		}
	}
	return o
}
