package locktest

import (
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// WithFreeze returns a server that can be frozen and slowed, though the store
// behind connect cannot: its connections are held up instead.
func WithFreeze(connect func(testing.TB) driver.Backend) Server {
	l := &links{connect: connect}
	return Server{Connect: l.add, Freeze: l.freeze, Thaw: l.thaw, Lag: l.addLagging}
}

// links are the connections to one store.
type links struct {
	connect func(testing.TB) driver.Backend

	mu  sync.Mutex
	all []*bedrocktest.Backend
}

func (l *links) add(t testing.TB) driver.Backend {
	f := bedrocktest.NewBackend(l.connect(t))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, f)
	return f
}

func (l *links) addLagging(t testing.TB) (driver.Backend, func(time.Duration)) {
	f := bedrocktest.NewBackend(l.connect(t))
	return f, f.Lag
}

func (l *links) freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.all {
		f.Freeze()
	}
}

func (l *links) thaw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.all {
		f.Thaw()
	}
}
