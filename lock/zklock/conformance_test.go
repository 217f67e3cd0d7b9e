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

func TestConformanceStandalone(t *testing.T) {
	servers := make(chan struct{}, 4) // a server of its own for each behaviour takes a machine's memory
	locktest.Run(t, locktest.Backend{
		Open: func(t testing.TB) locktest.Server {
			servers <- struct{}{}
			t.Cleanup(func() { <-servers })
			return standalone(t)
		},
		Exempt: conformance.ZooKeeper().Exempt,
	})
}

// standalone starts a server that clients reach through a proxy.
func standalone(t testing.TB) locktest.Server {
	server := testenv.StartZooKeeper(t, nil)[0]
	proxy := proxyTo(t, server.Addr())
	return locktest.Server{
		Connect: func(t testing.TB) driver.Backend { return connectTo(t, proxy.Addr()) },
		Freeze:  server.Freeze,
		Thaw:    server.Thaw,
		Restart: func(keepData bool) {
			if keepData {
				server.Restart()
			} else {
				server.Wipe()
			}
		},
		Disconnect: func() { breakOnce(proxy) },
		Lag: func(t testing.TB) (driver.Backend, func(time.Duration)) {
			line := proxyTo(t, server.Addr())
			return connectTo(t, line.Addr()), line.Delay
		},
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
	outside := make(chan func()) // a server that a behaviour starts goes on after it
	defer close(outside)
	go func() {
		for run := range outside {
			run()
		}
	}()
	locktest.Run(t, locktest.Backend{
		Shared: true,
		Open: func(testing.TB) locktest.Server {
			return locktest.Server{
				Connect:    func(t testing.TB) driver.Backend { return connectTo(t, addresses...) },
				Disconnect: func() { breakOnce(proxies...) },
				Nemeses: []locktest.Nemesis{{
					Name: "the leader is killed",
					Strike: func(context.Context) error {
						done := make(chan struct{})
						outside <- func() { defer close(done); killLeader(t, servers) }
						<-done
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
