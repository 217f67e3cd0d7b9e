package severaltest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// Server is a node in memory that can be started anew, when it has forgotten everything.
type Server struct {
	mu    sync.Mutex
	store *memlock.Store
	birth int // how often it was started
}

// Servers are those of a lock.
type Servers []*Server

// NewServers starts so many.
func NewServers(n int) Servers {
	all := make(Servers, n)
	for i := range all {
		all[i] = &Server{store: memlock.NewStore(nil)}
	}
	return all
}

// Connect returns new lines to all of them, each to be made to fail alone; and once more as backends.
func (all Servers) Connect() (lines []*bedrocktest.Backend, backends []driver.Backend) {
	for _, s := range all {
		line := bedrocktest.NewBackend(s.Client())
		lines, backends = append(lines, line), append(backends, line)
	}
	return lines, backends
}

// Restart makes the server forget everything. Nobody is told of it.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store, s.birth = memlock.NewStore(nil), s.birth+1
}

// Client returns a client of the server, for as long as it runs, and after each start.
func (s *Server) Client() driver.Backend { return &link{server: s, began: time.Now()} }

// Holders are the owners of all that is held there, by the names they have.
func (s *Server) Holders() map[string]string {
	infos, _ := s.Client().(driver.Inspector).List(context.Background(), "", 1000) // a store in memory does not fail
	held := make(map[string]string)
	for _, info := range infos {
		for _, h := range info.Holders {
			held[info.Name] = h.Owner
		}
	}
	return held
}

// Newest returns the newest token given out for a name.
func (s *Server) Newest(name string) uint64 {
	info, _ := s.Client().(driver.Inspector).Inspect(context.Background(), name) // see Holders
	return info.Token
}

// memory is what a backend in memory can do, and what matters here.
type memory interface {
	driver.Backend
	driver.Waiter
	driver.Inspector
	driver.Forcer
	driver.Notifier
	driver.Checker
	driver.Identifier
}

// link is a client of a server. Its connections go to whatever store the server has now.
type link struct {
	server *Server
	began  time.Time

	mu    sync.Mutex
	birth int
	inner memory
	tell  func(driver.Message)
}

var (
	_ memory            = (*link)(nil)
	_ driver.Timekeeper = (*link)(nil)
)

func (l *link) now() memory {
	l.server.mu.Lock()
	store, birth := l.server.store, l.server.birth
	l.server.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner == nil || l.birth != birth {
		l.inner, l.birth = memlock.NewBackend(store).(memory), birth
		if l.tell != nil {
			l.inner.Notify(l.tell)
		}
	}
	return l.inner
}

// Acquire implements [driver.Backend].
func (l *link) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return l.now().Acquire(ctx, req)
}

// Renew implements [driver.Backend].
func (l *link) Renew(ctx context.Context, grants []driver.Grant) []error {
	return l.now().Renew(ctx, grants)
}

// Release implements [driver.Backend].
func (l *link) Release(ctx context.Context, g driver.Grant) (int, error) {
	return l.now().Release(ctx, g)
}

// Close implements [driver.Backend].
func (l *link) Close() error { return l.now().Close() }

// Watch implements [driver.Waiter].
func (l *link) Watch(ctx context.Context, name string, kind driver.Kind) (driver.Watch, error) {
	return l.now().Watch(ctx, name, kind)
}

// Inspect implements [driver.Inspector].
func (l *link) Inspect(ctx context.Context, name string) (driver.Info, error) {
	return l.now().Inspect(ctx, name)
}

// List implements [driver.Inspector].
func (l *link) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	return l.now().List(ctx, prefix, limit)
}

// ForceRelease implements [driver.Forcer].
func (l *link) ForceRelease(ctx context.Context, name string) (bool, error) {
	return l.now().ForceRelease(ctx, name)
}

// Notify implements [driver.Notifier].
func (l *link) Notify(tell func(driver.Message)) {
	l.mu.Lock()
	l.tell = tell
	l.mu.Unlock()
	l.now().Notify(tell)
}

// Check implements [driver.Checker].
func (l *link) Check(ctx context.Context) ([]driver.Finding, error) { return l.now().Check(ctx) }

// Identity implements [driver.Identifier].
func (l *link) Identity(context.Context) (string, error) {
	return fmt.Sprintf("server %p", l.server), nil
}

// Now implements [driver.Timekeeper].
func (l *link) Now() time.Duration { return time.Since(l.began) }
