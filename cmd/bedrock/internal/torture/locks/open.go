package locks

import (
	"context"
	"fmt"
	"time"

	redis "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/backendurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/lock/redislock/rueidis"
)

// The libraries by which a backend is reached.
const (
	viaGoRedis = "goredis"
	viaRueidis = "rueidis"
	viaServer  = "server"
)

// session is a client with its connections.
type session struct {
	*lock.Client

	hangUp func()
}

// opener opens clients of one target. The clients of a memory share it.
type opener func(opts lock.Options) (*session, error)

func newOpener(t target) (opener, error) {
	switch t.Library {
	case viaServer:
		return func(opts lock.Options) (*session, error) { return openServer(t.URL, opts) }, nil
	case viaRueidis:
		return func(opts lock.Options) (*session, error) { return openRueidis(t.URL, opts) }, nil
	}
	backend, err := backendurl.New(t.URL)
	if err != nil {
		return nil, err
	}
	return func(opts lock.Options) (*session, error) {
		s, err := backend.Open(opts)
		if err != nil {
			return nil, err
		}
		return &session{s.Client, func() { _ = s.Close(context.Background()) }}, nil
	}, nil
}

func openServer(url string, opts lock.Options) (*session, error) {
	remote, err := client.Dial(url, nil)
	if err != nil {
		return nil, err
	}
	locks, err := lock.New(remote.Backend(), &opts)
	if err != nil {
		return nil, err
	}
	return &session{locks, remote.Close}, nil
}

// dialPatience is how long rueidis, which connects before anybody asks for it, is given
// to find a server that may be down just now.
const dialPatience = 10 * time.Second

func openRueidis(url string, opts lock.Options) (*session, error) {
	location, err := backendurl.Parse(url)
	if err != nil {
		return nil, err
	}
	var conn redis.Client
	for end := time.Now().Add(dialPatience); ; {
		if conn, err = redis.NewClient(rueidisOptions(location)); err == nil {
			break
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("connect: %w", err)
		}
		time.Sleep(dialPatience / 100)
	}
	o := location.Options
	opts.TTL = max(opts.TTL, o.TTL)
	locks, err := redislock.New(rueidis.Wrap(conn), &redislock.Options{
		Lock: opts, Profile: o.Profile, PubSub: o.PubSub, Acks: o.Acks, AckTimeout: o.AckTimeout, TokenTTL: o.TokenTTL,
	})
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &session{locks, conn.Close}, nil
}

func rueidisOptions(l *backendurl.Location) redis.ClientOption {
	o := redis.ClientOption{
		InitAddress: l.Addrs, Username: l.Username, Password: l.Password, SelectDB: l.DB, ClientName: "bedrock",
		DisableCache: true, ForceSingleClient: l.Kind == backendurl.Redis,
	}
	if l.Kind == backendurl.Sentinel {
		o.Sentinel = redis.SentinelOption{
			MasterSet: l.Master, Username: l.Options.SentinelUsername, Password: l.Options.SentinelPassword,
		}
	}
	return o
}
