package zklock_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// TestConformanceStandalone has one server for all behaviours: to start one costs more than most of them.
func TestConformanceStandalone(t *testing.T) {
	server := testenv.StartZooKeeper(t, nil)[0]
	proxy := proxyTo(t, server.Addr())
	outside := runOutside(t)
	locktest.Run(t, locktest.Backend{
		Shared: true,
		Open: func(testing.TB) locktest.Server {
			return locktest.Server{
				Connect:    func(t testing.TB) driver.Backend { return connectTo(t, proxy.Addr()) },
				Freeze:     server.Freeze,
				Thaw:       server.Thaw,
				Restart:    func(keepData bool) { outside(func() { restart(server, keepData) }) },
				Disconnect: func() { breakOnce(proxy) },
				Lag: func(t testing.TB) (driver.Backend, func(time.Duration)) {
					line := proxyTo(t, server.Addr())
					return connectTo(t, line.Addr()), line.Delay
				},
			}
		},
		Exempt: conformance.ZooKeeper().Exempt,
	})
}

func restart(server *testenv.ZooKeeperServer, keepData bool) {
	if keepData {
		server.Restart()
	} else {
		server.Wipe()
	}
}

// runOutside returns what runs something in a goroutine that outlasts the behaviours of a test: a server
// that one of them starts goes on after it.
func runOutside(t *testing.T) func(run func()) {
	type work struct {
		run  func()
		done chan struct{}
	}
	works := make(chan work)
	go func() {
		for w := range works {
			w.run()
			close(w.done)
		}
	}()
	t.Cleanup(func() { close(works) })
	return func(run func()) {
		w := work{run, make(chan struct{})}
		works <- w
		<-w.done
	}
}

// breakOnce breaks all connections, and lets new ones pass.
func breakOnce(proxies ...*chaos.Proxy) {
	for _, p := range proxies {
		p.Cut()
		p.Heal()
	}
}

// connectTo makes a backend that the suite closes.
func connectTo(t testing.TB, servers ...string) driver.Backend {
	b, err := zklock.NewBackend(ctxFor(t), servers, long())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformanceEnsemble(t *testing.T) {
	servers := testenv.StartZooKeeper(t, &testenv.ZooKeeperOptions{Servers: 3})
	var (
		addresses []string
		proxies   []*chaos.Proxy
	)
	for _, s := range servers {
		proxy := proxyTo(t, s.Addr())
		addresses = append(addresses, proxy.Addr())
		proxies = append(proxies, proxy)
	}
	outside := runOutside(t)
	locktest.Run(t, locktest.Backend{
		Shared: true,
		Open: func(testing.TB) locktest.Server {
			return locktest.Server{
				Connect:    func(t testing.TB) driver.Backend { return connectTo(t, addresses...) },
				Disconnect: func() { breakOnce(proxies...) },
				Nemeses: []locktest.Nemesis{{
					Name: "the leader is killed",
					Strike: func(context.Context) error {
						outside(func() { killLeader(t, servers) })
						return nil
					},
				}},
			}
		},
		Exempt: conformance.Ensemble().Exempt,
	})
}

// killLeader kills the leader, waits for another one, and starts it again.
func killLeader(t testing.TB, servers []*testenv.ZooKeeperServer) {
	t.Helper()
	for _, s := range servers {
		if !s.IsLeader() {
			continue
		}
		s.Kill()
		eventually(t, "another leader", func() bool {
			for _, other := range servers {
				if strings.Contains(other.Ask("srvr"), "Mode: leader") {
					return true
				}
			}
			return false
		})
		s.Restart()
		return
	}
}
