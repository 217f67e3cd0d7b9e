package zklock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// TestForceDeletesData: a node that would outlive every session is no client's lock, whatever it is called. It keeps
// others out, and is deleted by nobody, nor are those that have the lock beside it.
func TestForceDeletesData(t *testing.T) {
	t.Parallel()
	const lasting, container = 0, zk.FlagContainer
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, &zklock.Options{Profile: zklock.Curator}, server.Addr()), raw(t, server)
	reader, permit := request("read", "me:1"), request("permits", "me:1")
	reader.Mode = driver.Shared
	permit.Mode, permit.Permits, permit.Limit = driver.Permit, 1, 2
	granted := map[string]driver.Grant{"read": mustAcquire(t, b, reader), "permits": mustAcquire(t, b, permit)}
	for name, data := range map[string]struct {
		node  string
		flags int32
	}{
		"app":     {"config", lasting},
		"hand":    {"_c_82bd6e63-2e6c-475c-b517-9f24b94791f4-lock-0000000001", lasting},
		"parent":  {"orders", container},
		"read":    {"_c_82bd6e63-2e6c-475c-b517-9f24b94791f4-__READ__0000000009", lasting},
		"permits": {"leases/of-a-house", lasting},
	} {
		folder := "/bedrock/lock/" + name
		g, isGranted := granted[name]
		if !isGranted {
			mustRelease(t, b, mustAcquire(t, b, request(name, "me:1"))) // it makes the folder
		}
		var err error
		if data.flags == container {
			_, err = other.CreateContainer(folder+"/"+data.node, nil, container, zk.WorldACL(zk.PermAll))
		} else {
			_, err = other.Create(folder+"/"+data.node, []byte("x"), data.flags, zk.WorldACL(zk.PermAll))
		}
		if err != nil {
			t.Fatal(name, err)
		}
		held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), name)
		if held || !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), folder+"/"+data.node) {
			t.Errorf("force %q: %t, %v", name, held, err)
		}
		if there, _, err := other.Exists(folder + "/" + data.node); err != nil || !there {
			t.Errorf("%q is there: %t, %v", data.node, there, err)
		}
		if isGranted {
			mustRelease(t, b, g)
		}
	}
}

// TestForceOverlooksDataAmongMany has more readers than are looked at side by side.
func TestForceOverlooksDataAmongMany(t *testing.T) {
	t.Parallel()
	const readers = 65
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, &zklock.Options{Profile: zklock.Curator}, server.Addr()), raw(t, server)
	for i := range readers {
		req := request("read", fmt.Sprint("me:", i+1))
		req.Mode = driver.Shared
		mustAcquire(t, b, req)
	}
	data := "/bedrock/lock/read/_c_82bd6e63-2e6c-475c-b517-9f24b94791f4-__READ__0000000999"
	if _, err := other.Create(data, []byte("x"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "read")
	if held || !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), data) {
		t.Errorf("force: %t, %v", held, err)
	}
	if nodes, _, err := other.Children("/bedrock/lock/read"); err != nil || len(nodes) != readers+1 {
		t.Errorf("%d nodes are there: %v", len(nodes), err)
	}
}
