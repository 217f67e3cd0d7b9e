package client_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
)

// TestLockConformance puts locks over the wire through what every backend must do:
// a server over a store in memory, with every client connected through a proxy that
// can break connections.
func TestLockConformance(t *testing.T) {
	locktest.Run(t, locktest.Backend{
		Open: openLocks, TTL: time.Second, PublicOwners: true, Exempt: conformance.Server().Exempt,
	})
}

func openLocks(t testing.TB) locktest.Server {
	store := memlock.NewStore(nil)
	return openLab(&lab{
		t: t, open: func() driver.Backend { return memlock.NewBackend(store) },
		forget: func() { store = memlock.NewStore(nil) },
	})
}

// openLab serves the locks of a lab.
func openLab(lab *lab) locktest.Server {
	t := lab.t
	lab.site = serve(t, lab)
	proxy := lab.proxy(t)
	return locktest.Server{
		Connect: func(t testing.TB) driver.Backend { return dial(t, "http://"+proxy.Addr(), nil).Backend() },
		Freeze:  lab.freeze,
		Thaw:    lab.thaw,
		Restart: lab.restart,
		Disconnect: func() {
			proxy.Cut()
			proxy.Heal()
		},
		Lag: func(t testing.TB) (driver.Backend, func(time.Duration)) {
			own := lab.proxy(t)
			return dial(t, "http://"+own.Addr(), nil).Backend(), own.Delay
		},
	}
}

// proxy starts one in front of the server.
func (l *lab) proxy(t testing.TB) *chaos.Proxy {
	t.Helper()
	proxy, err := chaos.New(l.site.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy
}

// lab is a server of locks that can be frozen and restarted.
type lab struct {
	t    testing.TB
	site *site

	open   func() driver.Backend // the locks of a server that starts
	forget func()                // all data; nil where they stay

	mu      sync.Mutex
	handler http.Handler
	ice     chan struct{}
}

func (l *lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, ice := l.now()
	if ice != nil {
		<-ice
	}
	h.ServeHTTP(w, r)
}

func (l *lab) now() (http.Handler, chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handler == nil {
		h, err := server.New(server.Services{Locks: l.open()}, nil)
		if err != nil {
			l.t.Error(err)
		}
		l.handler = h
	}
	return l.handler, l.ice
}

func (l *lab) freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ice == nil {
		l.ice = make(chan struct{})
	}
}

func (l *lab) thaw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ice != nil {
		close(l.ice)
		l.ice = nil
	}
}

func (l *lab) restart(keepData bool) {
	l.site.end()
	l.mu.Lock()
	l.handler = nil
	if !keepData {
		l.forget()
	}
	l.mu.Unlock()
	l.site.start()
}
