package subject

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// linger is for how long locks linger where they do.
const linger = 5 * time.Millisecond

// bedrockRole returns what Bedrock is compared as when locks linger for so long.
func bedrockRole(linger time.Duration) Role {
	if linger > 0 {
		return Lingering
	}
	return Bedrock
}

// bedrockGoredis is Bedrock over go-redis; its locks linger for so long.
func bedrockGoredis(name string, linger time.Duration) Subject {
	return Subject{
		Name: name, Role: bedrockRole(linger), Client: goredisClient,
		Open: func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
			rdb, err := dialGoredis(ctx, at.Addr, at.Delay)
			if err != nil {
				return nil, err
			}
			return newBedrock(goredis.Wrap(rdb), lease, linger, rdb.Close)
		},
	}
}

// bedrockRueidis is the same over rueidis.
func bedrockRueidis(name string, linger time.Duration) Subject {
	return Subject{
		Name: name, Role: bedrockRole(linger), Client: rueidisClient,
		Open: func(_ context.Context, at Site, lease time.Duration) (Locker, error) {
			client, err := dialRueidis(at.Addr)
			if err != nil {
				return nil, err
			}
			return newBedrock(rueidis.Wrap(client), lease, linger, closing(client.Close))
		},
	}
}

// fair has the locks of one of Bedrock's go to who has waited for longest.
func fair(s Subject) Subject {
	open := s.Open
	s.Kind = Fair
	s.Open = func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
		l, err := open(ctx, at, lease)
		if b, ok := l.(*bedrockLocker); ok {
			b.options = &lock.MutexOptions{Fair: true}
		}
		return l, err
	}
	return s
}

// bedrockLocker makes Bedrock mutexes.
type bedrockLocker struct {
	client     *lock.Client
	options    *lock.MutexOptions
	disconnect func() error
}

func newBedrock(conn redisconn.Conn, lease, linger time.Duration, disconnect func() error) (Locker, error) {
	client, err := redislock.New(conn, &redislock.Options{Lock: lock.Options{TTL: lease, Linger: linger}})
	return bedrockOf(client, err, disconnect)
}

// bedrockOf returns the locker of a client, or why there is none; then nothing remains connected.
func bedrockOf(client *lock.Client, err error, disconnect func() error) (Locker, error) {
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open bedrock: %w", err), disconnect())
	}
	return &bedrockLocker{client: client, disconnect: disconnect}, nil
}

// Mutex implements Locker.
func (l *bedrockLocker) Mutex(name string) Mutex {
	return &bedrockMutex{client: l.client, mutex: l.client.Mutex(name, l.options)}
}

// Close releases what is held before it disconnects.
func (l *bedrockLocker) Close() error {
	return errors.Join(l.client.Stop(context.Background()), l.disconnect())
}

type bedrockMutex struct {
	client *lock.Client
	mutex  *lock.Mutex
	lease  *lock.Lease
}

// Lock implements Mutex.
func (m *bedrockMutex) Lock(ctx context.Context) (err error) {
	m.lease, err = m.mutex.Lock(ctx)
	return err
}

// Unlock implements Mutex.
func (m *bedrockMutex) Unlock(ctx context.Context) error { return m.lease.Unlock(ctx) }

// Held implements Lasting.
func (m *bedrockMutex) Held() bool { return m.lease.State() == lock.Held }
