package combination_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// slowNode is a node from which answers take their time.
type slowNode struct {
	driver.Backend
	driver.Notifier
	driver.Pleader
	driver.Identifier
}

func (n *slowNode) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	g, err := n.Backend.Acquire(ctx, req)
	time.Sleep(20 * time.Millisecond)
	return g, err
}

// TestPleaOnTheWay from node to node: the first has granted the lock, and says so to who asks for it.
func TestPleaOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var near, far []driver.Backend
		for range 2 {
			s := memlock.NewStore(nil)
			b := memlock.NewBackend(s)
			far = append(far, &slowNode{b, b.(driver.Notifier), b.(driver.Pleader), b.(driver.Identifier)})
			near = append(near, memlock.NewBackend(s))
		}
		clients := make([]*lock.Client, 2)
		for i, nodes := range [][]driver.Backend{far, near} {
			c, err := combination.New(nodes, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Stop(context.Background()) }()
			clients[i] = c
		}
		told := 0
		time.AfterFunc(10*time.Millisecond, func() { told, _ = clients[1].Ask(t.Context(), "a", "maintenance", 0) })
		lease, err := clients[0].Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if p, asked := lease.Plea(); told != 1 || p.Reason != "maintenance" {
			t.Errorf("%d were told, and the lease has heard %+v, %v", told, p, asked)
		}
		_ = lease.Unlock(t.Context())
	})
}
