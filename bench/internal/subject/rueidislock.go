package subject

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/rueidis/rueidislock"
)

// rueidislocker is rueidislock with locks of 2*majority-1 keys; its default
// majority is 2.
func rueidislocker(name string, majority int32) Subject {
	return Subject{
		Name: name, Role: Peer, Client: rueidisClient,
		Open: func(_ context.Context, at Site, lease time.Duration) (Locker, error) {
			locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
				ClientOption: rueidisOption(at.Addr),
				KeyMajority:  majority,
				KeyValidity:  lease,
			})
			if err != nil {
				return nil, fmt.Errorf("connect rueidislock to %s: %w", at.Addr, err)
			}
			return rueidisLocker{locker}, nil
		},
	}
}

type rueidisLocker struct{ locker rueidislock.Locker }

// Mutex implements Locker.
func (l rueidisLocker) Mutex(name string) Mutex {
	return &rueidisMutex{locker: l.locker, name: name}
}

// Close implements Locker.
func (l rueidisLocker) Close() error {
	l.locker.Close()
	return nil
}

type rueidisMutex struct {
	locker rueidislock.Locker
	name   string
	unlock context.CancelFunc
}

// Lock implements Mutex.
func (m *rueidisMutex) Lock(ctx context.Context) error {
	_, unlock, err := m.locker.WithContext(ctx, m.name)
	m.unlock = unlock
	return err
}

// Unlock implements Mutex.
func (m *rueidisMutex) Unlock(context.Context) error {
	m.unlock()
	return nil
}
