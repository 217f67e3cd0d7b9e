package server_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// TestAWaitThatIsOverKeepsItsPlace in the line of the store: when the lock is given back after that, it is free at
// once.
func TestAWaitThatIsOverKeepsItsPlace(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (driver.Backend, error){
		"etcd": onEtcd, "zookeeper": onZooKeeper,
	} {
		t.Run(name, func(t *testing.T) {
			store, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			c := config(t)
			c.Locks = store
			s := serve(t, c, nil)
			s.post(t, locks+"Acquire", `{"name": "a", "owner": "o:1", "ttl": "20s"}`).want(t, 200)
			s.post(t, locks+"Acquire", `{"name": "a", "owner": "o:2", "ttl": "20s", "wait": "0.2s"}`).want(t, 409)
			s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "o:1"}}`).want(t, 200)
			s.post(t, locks+"Acquire", `{"name": "a", "owner": "o:3", "ttl": "20s"}`).want(t, 200)
		})
	}
}

func onEtcd(t *testing.T) (driver.Backend, error) {
	conn, err := clientv3.New(clientv3.Config{Endpoints: []string{testenv.StartEtcd(t, nil).Members[0].Addr()}})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	return etcdlock.NewBackend(conn, nil)
}

func onZooKeeper(t *testing.T) (driver.Backend, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return zklock.NewBackend(ctx, []string{testenv.StartZooKeeper(t, nil)[0].Addr()}, nil)
}
