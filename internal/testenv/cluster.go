package testenv

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const slotCount = 16384

// ClusterSet is a Redis Cluster whose slots are spread evenly over its masters,
// and which fails over about a second after a master has gone.
type ClusterSet struct {
	// Nodes are all nodes: first the masters in the order of their slots, then
	// the replicas, one round after another.
	Nodes []*RedisServer

	t       Owner
	masters int
}

// Cluster starts a cluster and waits until every node serves.
func Cluster(t Owner, masters, replicasEach int) *ClusterSet {
	t.Helper()
	c := &ClusterSet{t: t, masters: masters}
	for range masters * (1 + replicasEach) {
		c.Nodes = append(c.Nodes, Redis(t, clusterNode()))
	}
	c.introduce()
	c.assignSlots()
	ctx, cancel := context.WithTimeout(context.Background(), 2*startTimeout)
	defer cancel()
	c.waitUntil(ctx, "introduction", c.acquainted)
	c.replicate()
	c.waitUntil(ctx, "service", c.serving)
	return c
}

// clusterNode is how a node is set up. A node gives up on another one after a
// second instead of 15.
func clusterNode() *RedisOptions {
	return &RedisOptions{Args: []string{
		"--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0",
	}}
}

// introduce makes the nodes meet. Masters get different epochs first, so that
// they need not settle a collision.
func (c *ClusterSet) introduce() {
	c.t.Helper()
	for i, node := range c.Nodes {
		node.Do("CLUSTER", "SET-CONFIG-EPOCH", i+1)
	}
	for _, node := range c.Nodes[1:] {
		node.Do("CLUSTER", "MEET", "127.0.0.1", c.Nodes[0].Port)
	}
}

// assignSlots spreads the slots over the masters.
func (c *ClusterSet) assignSlots() {
	c.t.Helper()
	for i, node := range c.Nodes[:c.masters] {
		args := []any{"CLUSTER", "ADDSLOTS"}
		for slot := i * slotCount / c.masters; slot < (i+1)*slotCount/c.masters; slot++ {
			args = append(args, slot)
		}
		node.Do(args...)
	}
}

// replicate makes the nodes after the masters their replicas, in turn.
func (c *ClusterSet) replicate() {
	c.t.Helper()
	for i, node := range c.Nodes[c.masters:] {
		node.Do("CLUSTER", "REPLICATE", nodeID(c.Nodes[i%c.masters]))
	}
}

// acquainted reports whether every node knows every other.
func (c *ClusterSet) acquainted() bool {
	for _, node := range c.Nodes {
		reply, err := node.Try("CLUSTER", "NODES")
		text, _ := reply.(string)
		known := strings.Count(text, "connected") - strings.Count(text, "disconnected")
		if err != nil || known != len(c.Nodes) || strings.Contains(text, "handshake") {
			return false
		}
	}
	return true
}

// serving reports whether every node calls the cluster healthy and every replica
// has its master's data.
func (c *ClusterSet) serving() bool {
	for i, node := range c.Nodes {
		if !healthy(node) || i >= c.masters && !node.inSync() {
			return false
		}
	}
	return true
}

// healthy reports whether a node sees all slots served.
func healthy(node *RedisServer) bool {
	reply, err := node.Try("CLUSTER", "INFO")
	return err == nil && infoField(reply, "cluster_state") == "ok"
}

func (c *ClusterSet) waitUntil(ctx context.Context, what string, holds func() bool) {
	c.t.Helper()
	if err := poll(ctx, 10*time.Millisecond, holds); err != nil {
		c.t.Fatalf("cluster: waiting for %s: %v\n%s", what, err, c.Nodes[0].logTail())
	}
}

// Addrs are all nodes' addresses.
func (c *ClusterSet) Addrs() []string {
	addrs := make([]string, len(c.Nodes))
	for i, node := range c.Nodes {
		addrs[i] = node.Addr()
	}
	return addrs
}

// NodeForSlot is the master that serves slot, as the first healthy node sees it.
func (c *ClusterSet) NodeForSlot(slot int) *RedisServer {
	c.t.Helper()
	node := c.owner(slot)
	if node == nil {
		c.t.Fatalf("cluster: nobody serves slot %d", slot)
	}
	return node
}

// owner is NodeForSlot, nil when nobody healthy knows.
func (c *ClusterSet) owner(slot int) *RedisServer {
	for _, node := range c.Nodes {
		if node.proc.isGone() || !healthy(node) {
			continue
		}
		if reply, err := node.Try("CLUSTER", "SLOTS"); err == nil {
			return c.byPort(portOfSlot(reply, slot))
		}
	}
	return nil
}

// portOfSlot finds the master's port of slot in a reply to CLUSTER SLOTS:
// a list of [first, last, [host, port, …], …].
func portOfSlot(reply any, slot int) int64 {
	ranges, _ := reply.([]any)
	for _, r := range ranges {
		r, _ := r.([]any)
		if len(r) < 3 {
			continue
		}
		first, _ := r[0].(int64)
		last, _ := r[1].(int64)
		master, _ := r[2].([]any)
		if first <= int64(slot) && int64(slot) <= last && len(master) >= 2 {
			number, _ := master[1].(int64)
			return number
		}
	}
	return 0
}

func (c *ClusterSet) byPort(number int64) *RedisServer {
	for _, node := range c.Nodes {
		if int64(node.Port) == number {
			return node
		}
	}
	return nil
}

// nodeID is the name by which other nodes know this one.
func nodeID(node *RedisServer) string {
	node.t.Helper()
	return fmt.Sprint(node.Do("CLUSTER", "MYID"))
}

// KeySlot is the slot of a key.
func (c *ClusterSet) KeySlot(key string) int {
	c.t.Helper()
	slot, err := strconv.Atoi(fmt.Sprint(c.Nodes[0].Do("CLUSTER", "KEYSLOT", key)))
	if err != nil {
		c.t.Fatalf("cluster: slot of %q: %v", key, err)
	}
	return slot
}

// CatchUp waits until the replica of a slot's master has all its master has now.
func (c *ClusterSet) CatchUp(slot int) {
	c.t.Helper()
	master := c.NodeForSlot(slot)
	want := offset(master)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	c.waitUntil(ctx, "replication", func() bool { return replicaOffset(master) >= want })
}

// replicaOffset is how much a master's replica has acknowledged.
func replicaOffset(master *RedisServer) int64 {
	_, rest, _ := strings.Cut(master.Info("slave0"), "offset=")
	digits, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// KillMasterOf kills the master that serves slot and returns it.
func (c *ClusterSet) KillMasterOf(slot int) *RedisServer {
	c.t.Helper()
	node := c.NodeForSlot(slot)
	node.Kill()
	return node
}

// WaitFailover waits until another node than old serves slot and every living
// node agrees that the cluster is healthy.
func (c *ClusterSet) WaitFailover(ctx context.Context, slot int, old *RedisServer) (*RedisServer, error) {
	var master *RedisServer
	promoted := func() bool {
		master = c.owner(slot)
		return master != nil && master != old && master.IsMaster() && c.allHealthy()
	}
	if err := poll(ctx, 20*time.Millisecond, promoted); err != nil {
		return nil, fmt.Errorf("waiting for fail-over of slot %d: %w", slot, err)
	}
	return master, nil
}

func (c *ClusterSet) allHealthy() bool {
	for _, node := range c.Nodes {
		if !node.proc.isGone() && !healthy(node) {
			return false
		}
	}
	return true
}
