package subject

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// rawGoredis is SET NX PX and a compare-and-delete script through go-redis.
func rawGoredis() Subject {
	return Subject{
		Name: "raw-goredis", Role: Raw, Client: goredisClient, Plain: []string{"set"},
		Open: func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
			rdb, err := dialGoredis(ctx, at.Addr, at.Delay)
			if err != nil {
				return nil, err
			}
			return &rawGoredisLocker{rdb: rdb, lease: lease, release: redis.NewScript(compareAndDelete)}, nil
		},
	}
}

type rawGoredisLocker struct {
	rdb     *redis.Client
	lease   time.Duration
	release *redis.Script
}

// Mutex implements Locker.
func (l *rawGoredisLocker) Mutex(name string) Mutex {
	return &rawGoredisMutex{locker: l, keys: []string{name}, values: newValues()}
}

// Close implements Locker.
func (l *rawGoredisLocker) Close() error { return l.rdb.Close() }

type rawGoredisMutex struct {
	locker *rawGoredisLocker
	keys   []string
	values values
	value  string
}

// Lock fails when the key is taken; it does not wait.
func (m *rawGoredisMutex) Lock(ctx context.Context) error {
	m.value = m.values.nextValue()
	set, err := m.locker.rdb.SetNX(ctx, m.keys[0], m.value, m.locker.lease).Result()
	if err == nil && !set {
		err = errTaken
	}
	return err
}

// Unlock implements Mutex.
func (m *rawGoredisMutex) Unlock(ctx context.Context) error {
	n, err := m.locker.release.Run(ctx, m.locker.rdb, m.keys, m.value).Int()
	if err == nil && n == 0 {
		err = errNotHeld
	}
	return err
}
