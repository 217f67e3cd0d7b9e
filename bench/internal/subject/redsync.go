package subject

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	redsyncgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redsyncrueidis "github.com/go-redsync/redsync/v4/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

// redsyncPoll is the longest pause of redsync's default of 50 to 250 ms.
const redsyncPoll = 250 * time.Millisecond

// redsyncGoredis is redsync over go-redis, polling every poll, or at its
// default pace when poll is 0.
func redsyncGoredis(name string, poll time.Duration) Subject {
	s := Subject{Name: name, Role: Peer, Client: goredisClient, Poll: redsyncPoll, Plain: []string{"set"}}
	var options []redsync.Option
	if poll > 0 {
		s.Poll, s.Tuned = poll, true
		options = append(options, redsync.WithRetryDelay(poll))
	}
	s.Open = func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
		rdb, err := dialGoredis(ctx, at.Addr, at.Delay)
		if err != nil {
			return nil, err
		}
		return newRedsync(rdb.Close, lease, options, redsyncgoredis.NewPool(rdb)), nil
	}
	return s
}

// redsyncServers is redsync over go-redis at its default pace, with a pool for each of so many servers: its Redlock.
func redsyncServers(name string, servers int) Subject {
	s := redsyncGoredis(name, 0)
	s.Servers = servers
	s.Open = func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
		clients, err := dialSeveral(ctx, at, servers)
		if err != nil {
			return nil, err
		}
		var pools []redsyncredis.Pool
		for _, rdb := range clients {
			pools = append(pools, redsyncgoredis.NewPool(rdb))
		}
		return newRedsync(clients.closeAll, lease, nil, pools...), nil
	}
	return s
}

// redsyncRueidis is redsync over rueidis at its default pace.
func redsyncRueidis(name string) Subject {
	return Subject{
		Name: name, Role: Peer, Client: rueidisClient, Poll: redsyncPoll, Plain: []string{"set"},
		Open: func(_ context.Context, at Site, lease time.Duration) (Locker, error) {
			client, err := dialRueidis(at.Addr)
			if err != nil {
				return nil, err
			}
			pool := redsyncrueidis.NewPool(rueidiscompat.NewAdapter(client))
			return newRedsync(closing(client.Close), lease, nil, pool), nil
		},
	}
}

// redsyncLocker makes redsync mutexes.
type redsyncLocker struct {
	*redsync.Redsync
	options []redsync.Option
	close   func() error
}

func newRedsync(
	closePools func() error, lease time.Duration, options []redsync.Option, pools ...redsyncredis.Pool,
) *redsyncLocker {
	options = append([]redsync.Option{redsync.WithExpiry(lease)}, options...)
	return &redsyncLocker{Redsync: redsync.New(pools...), options: options, close: closePools}
}

// Mutex implements Locker.
func (l *redsyncLocker) Mutex(name string) Mutex {
	return redsyncMutex{l.NewMutex(name, l.options...)}
}

// Close implements Locker.
func (l *redsyncLocker) Close() error { return l.close() }

type redsyncMutex struct{ mutex *redsync.Mutex }

// Lock tries again for as long as ctx lasts: redsync alone gives up after 32
// tries.
func (m redsyncMutex) Lock(ctx context.Context) error {
	for {
		err := m.mutex.LockContext(ctx)
		if err == nil || ctx.Err() != nil || errors.As(err, new(redsync.RedisError)) {
			return err
		}
	}
}

// Unlock implements Mutex.
func (m redsyncMutex) Unlock(ctx context.Context) error {
	ok, err := m.mutex.UnlockContext(ctx)
	if err == nil && !ok {
		err = fmt.Errorf("unlock %s: not held", m.mutex.Name())
	}
	return err
}
