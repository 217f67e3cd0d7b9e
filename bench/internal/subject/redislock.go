package subject

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// bsmRedislock is bsm/redislock over go-redis. Its default is not to wait at
// all; its documentation shows a linear back-off, which is used here.
func bsmRedislock(name string, poll time.Duration) Subject {
	return Subject{
		Name: name, Role: Peer, Client: goredisClient, Poll: poll,
		Tuned: poll < 100*time.Millisecond,
		Open: func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
			rdb, err := dialGoredis(ctx, at.Addr, at.Delay)
			if err != nil {
				return nil, err
			}
			options := &redislock.Options{RetryStrategy: redislock.LinearBackoff(poll)}
			return &bsmLocker{client: redislock.New(rdb), options: options, lease: lease, rdb: rdb}, nil
		},
	}
}

type bsmLocker struct {
	client  *redislock.Client
	options *redislock.Options
	lease   time.Duration
	rdb     *redis.Client
}

// Mutex implements Locker.
func (l *bsmLocker) Mutex(name string) Mutex { return &bsmMutex{locker: l, name: name} }

// Close implements Locker.
func (l *bsmLocker) Close() error { return l.rdb.Close() }

type bsmMutex struct {
	locker *bsmLocker
	name   string
	held   *redislock.Lock
}

// Lock tries again for as long as ctx lasts.
func (m *bsmMutex) Lock(ctx context.Context) error {
	for {
		held, err := m.locker.client.Obtain(ctx, m.name, m.locker.lease, m.locker.options)
		if err == nil {
			m.held = held
			return nil
		}
		if ctx.Err() != nil || !errors.Is(err, redislock.ErrNotObtained) {
			return err
		}
	}
}

// Unlock implements Mutex.
func (m *bsmMutex) Unlock(ctx context.Context) error { return m.held.Release(ctx) }
