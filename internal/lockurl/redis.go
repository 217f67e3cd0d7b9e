package lockurl

import (
	"cmp"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/serverurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// Redis is a place in Redis.
type Redis struct {
	serverurl.Location

	// Options are what the query says of locks; zero is the default of each.
	Options redislock.Options

	client *redis.UniversalOptions // once the files are read
}

func parseRedis(text string) (*Location, error) {
	var q redisQuery
	location, err := serverurl.Parse(text, q.setters())
	if err != nil {
		return nil, err
	}
	return &Location{place: &Redis{Location: *location, Options: redislock.Options(q)}, TTL: q.Lock.TTL}, nil
}

// TLS implements place.
func (r *Redis) TLS() bool { return r.Location.TLS.On }

func (r *Redis) readFiles() (err error) {
	if r.client, err = r.RedisOptions(); err != nil {
		return err
	}
	r.client.DialerRetries = 1 // a lock that was not even asked for is told at once, and asked for again
	return nil
}

func (r *Redis) connect(opts lock.Options, _ use) (driver.Backend, func() error, error) {
	conn := redis.NewUniversalClient(r.client)
	backend, err := redislock.NewBackend(goredis.Wrap(conn), r.LockOptions(opts))
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return backend, conn.Close, nil
}

// onlyServer implements reachable.
func (r *Redis) onlyServer() string {
	if r.Kind != serverurl.Redis {
		return "" // the others tell of further ones
	}
	return onlyOne(r.Addrs, r.TLS())
}

// LockOptions are those of locks on the Redis: the URL's, and opts, whose TTL goes before
// that of the URL.
func (r *Redis) LockOptions(opts lock.Options) *redislock.Options {
	o := r.Options
	opts.TTL = cmp.Or(opts.TTL, o.Lock.TTL)
	o.Lock = opts
	return &o
}

// meets implements place. Sentinels may know several masters.
func (r *Redis) meets(other place) string {
	o, ok := other.(*Redis)
	sentinel := serverurl.Sentinel
	if !ok || (r.Kind == sentinel) != (o.Kind == sentinel) || r.Master != o.Master {
		return ""
	}
	return commonAddress(r.Addrs, o.Addrs)
}
