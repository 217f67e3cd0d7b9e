package subject

import (
	"context"
	"time"

	"github.com/redis/rueidis"
)

// rawRueidis is SET NX PX and a compare-and-delete script through rueidis.
func rawRueidis() Subject {
	return Subject{
		Name: "raw-rueidis", Role: Raw, Client: rueidisClient, Plain: []string{"set"},
		Open: func(_ context.Context, at Site, lease time.Duration) (Locker, error) {
			client, err := dialRueidis(at.Addr)
			if err != nil {
				return nil, err
			}
			return &rawRueidisLocker{client: client, lease: lease, release: rueidis.NewLuaScript(compareAndDelete)}, nil
		},
	}
}

type rawRueidisLocker struct {
	client  rueidis.Client
	lease   time.Duration
	release *rueidis.Lua
}

// Mutex implements Locker.
func (l *rawRueidisLocker) Mutex(name string) Mutex {
	return &rawRueidisMutex{locker: l, keys: []string{name}, args: make([]string, 1), values: newValues()}
}

// Close implements Locker.
func (l *rawRueidisLocker) Close() error {
	l.client.Close()
	return nil
}

type rawRueidisMutex struct {
	locker *rawRueidisLocker
	keys   []string
	args   []string
	values values
}

// Lock fails when the key is taken; it does not wait.
func (m *rawRueidisMutex) Lock(ctx context.Context) error {
	m.args[0] = m.values.nextValue()
	client := m.locker.client
	set := client.B().Set().Key(m.keys[0]).Value(m.args[0]).Nx().PxMilliseconds(m.locker.lease.Milliseconds())
	err := client.Do(ctx, set.Build()).Error()
	if rueidis.IsRedisNil(err) {
		err = errTaken
	}
	return err
}

// Unlock implements Mutex.
func (m *rawRueidisMutex) Unlock(ctx context.Context) error {
	n, err := m.locker.release.Exec(ctx, m.locker.client, m.keys, m.args).AsInt64()
	if err == nil && n == 0 {
		err = errNotHeld
	}
	return err
}
