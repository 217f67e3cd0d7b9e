package subject

import (
	"context"
	"sync"
	"time"
)

// localMutex is a sync.Mutex per name: what a lock costs that leaves the
// process out.
func localMutex() Subject {
	return Subject{
		Name: "local-mutex", Role: Local,
		Open: func(context.Context, Site, time.Duration) (Locker, error) { return &localLocker{}, nil },
	}
}

type localLocker struct{ mutexes sync.Map }

// Mutex implements Locker.
func (l *localLocker) Mutex(name string) Mutex {
	mutex, _ := l.mutexes.LoadOrStore(name, new(sync.Mutex))
	return localLock{mutex.(*sync.Mutex)}
}

// Close implements Locker.
func (l *localLocker) Close() error { return nil }

type localLock struct{ *sync.Mutex }

// Lock implements Mutex. It cannot be interrupted.
func (l localLock) Lock(context.Context) error {
	l.Mutex.Lock()
	return nil
}

// Unlock implements Mutex.
func (l localLock) Unlock(context.Context) error {
	l.Mutex.Unlock()
	return nil
}
