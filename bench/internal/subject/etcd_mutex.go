package subject

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// etcdLocker makes mutexes of package concurrency. Two of one session exclude nobody, so each lock that is wanted
// at a time is by a session of its own; those that were made are used again.
type etcdLocker struct {
	client *clientv3.Client
	lease  time.Duration

	mu   sync.Mutex
	all  []*concurrency.Session
	idle []*concurrency.Session
}

func newEtcdLocker(client *clientv3.Client, lease time.Duration) *etcdLocker {
	return &etcdLocker{client: client, lease: lease}
}

// Mutex implements Locker.
func (l *etcdLocker) Mutex(name string) Mutex { return &etcdMutex{locker: l, name: name} }

// Close ends all sessions.
func (l *etcdLocker) Close() error {
	var errs []error
	for _, s := range l.all {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, l.client.Close())...)
}

// idleSession returns a session that nobody uses.
func (l *etcdLocker) idleSession() (*concurrency.Session, error) {
	l.mu.Lock()
	if n := len(l.idle); n > 0 {
		s := l.idle[n-1]
		l.idle = l.idle[:n-1]
		l.mu.Unlock()
		return s, nil
	}
	l.mu.Unlock()
	s, err := concurrency.NewSession(l.client, concurrency.WithTTL(int(l.lease/time.Second)))
	if err != nil {
		return nil, fmt.Errorf("make session: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, s)
	return s, nil
}

// giveBack has a session used by others.
func (l *etcdLocker) giveBack(s *concurrency.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, s)
}

type etcdMutex struct {
	locker  *etcdLocker
	name    string
	session *concurrency.Session
	mutex   *concurrency.Mutex
}

// Lock implements Mutex.
func (m *etcdMutex) Lock(ctx context.Context) error {
	session, err := m.locker.idleSession()
	if err != nil {
		return err
	}
	mutex := concurrency.NewMutex(session, m.name)
	if err := mutex.Lock(ctx); err != nil {
		m.locker.giveBack(session)
		return err
	}
	m.session, m.mutex = session, mutex
	return nil
}

// Unlock implements Mutex.
func (m *etcdMutex) Unlock(ctx context.Context) error {
	err := m.mutex.Unlock(ctx)
	m.locker.giveBack(m.session)
	return err
}
