package etcdlock_test

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
	"github.com/bedrock-go/bedrock/lock/locktest"
)

func TestConformance(t *testing.T) {
	locktest.Run(t, locktest.Backend{Open: oneMember(nil), Exempt: conformance.Etcd().Exempt})
}

func TestConformanceCompatible(t *testing.T) {
	locktest.Run(t, locktest.Backend{
		Open:   oneMember(&etcdlock.Options{Profile: etcdlock.Compatible}),
		Exempt: conformance.EtcdCompatible().Exempt,
	})
}

// oneMember starts a cluster of one member, which keeps its data over a restart.
func oneMember(opts *etcdlock.Options) func(testing.TB) locktest.Server {
	return func(t testing.TB) locktest.Server {
		cluster := testenv.StartEtcd(t, nil)
		member := cluster.Members[0]
		between := proxyTo(t, member.Addr())
		return locktest.Server{
			Connect:    func(t testing.TB) driver.Backend { return backendOn(t, opts, between.Addr()) },
			Freeze:     member.Freeze,
			Thaw:       member.Thaw,
			Restart:    member.Restart,
			Disconnect: func() { between.Cut(); between.Heal() },
			Lag: func(t testing.TB) (driver.Backend, func(time.Duration)) {
				slow := proxyTo(t, member.Addr())
				return backendOn(t, opts, slow.Addr()), slow.Delay
			},
		}
	}
}

// proxyTo puts a proxy before a server.
func proxyTo(t testing.TB, addr string) *chaos.Proxy {
	t.Helper()
	proxy, err := chaos.New(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy
}

// connect returns a client of servers, which is closed at the end. It connects anew as soon as that is possible.
func connect(t testing.TB, endpoints ...string) *clientv3.Client {
	t.Helper()
	again := grpc.ConnectParams{
		MinConnectTimeout: 5 * time.Second, // on a busy machine it takes long to be greeted
		Backoff: backoff.Config{
			BaseDelay: 20 * time.Millisecond, Multiplier: 1.5, MaxDelay: 100 * time.Millisecond,
		},
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, DialOptions: []grpc.DialOption{grpc.WithConnectParams(again)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// backendOn returns a backend of a client of its own. Whoever asks for it closes it.
func backendOn(t testing.TB, opts *etcdlock.Options, endpoints ...string) driver.Backend {
	t.Helper()
	b, err := etcdlock.NewBackend(connect(t, endpoints...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
