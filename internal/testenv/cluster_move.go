package testenv

import (
	"context"
	"slices"
	"strconv"
)

// SlotMove is a slot on its way from one master to another. Until it is
// finished the old master answers ASK for keys that have gone, and TRYAGAIN for
// several keys of which some have gone.
type SlotMove struct {
	cluster  *ClusterSet
	slot     int
	from, to *RedisServer
}

// StartMove begins to move a slot; no key is moved yet.
func (c *ClusterSet) StartMove(slot int, from, to *RedisServer) *SlotMove {
	c.t.Helper()
	to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", nodeID(from))
	from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", nodeID(to))
	return &SlotMove{cluster: c, slot: slot, from: from, to: to}
}

// MoveKeys moves the keys given, or all keys of the slot when none is.
func (m *SlotMove) MoveKeys(keys ...string) {
	m.from.t.Helper()
	if len(keys) > 0 {
		m.migrate(keys)
		return
	}
	for {
		keys := m.keysLeft()
		if len(keys) == 0 {
			return
		}
		m.migrate(keys)
	}
}

// keysLeft are some keys that are still with the old master.
func (m *SlotMove) keysLeft() []string {
	m.from.t.Helper()
	list, _ := m.from.Do("CLUSTER", "GETKEYSINSLOT", m.slot, 100).([]any)
	var keys []string
	for _, key := range list {
		if key, ok := key.(string); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// migrate moves keys with their values and times to live.
func (m *SlotMove) migrate(keys []string) {
	m.from.t.Helper()
	args := []any{"MIGRATE", "127.0.0.1", m.to.Port, "", 0, commandTimeout.Milliseconds(), "KEYS"}
	for _, key := range keys {
		args = append(args, key)
	}
	m.from.Do(args...)
}

// Finish moves what is left and gives the slot to the new master.
func (m *SlotMove) Finish() {
	m.from.t.Helper()
	m.MoveKeys()
	m.outrank()
	m.assign()
}

// outrank makes the new master's word count for more than all that the old one has said.
// A message of that one that is on its way yet, and of an epoch that the new one has not
// heard of, would take the slot back: each would point at the other for ever.
func (m *SlotMove) outrank() {
	m.from.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	m.cluster.waitUntil(ctx, "the new master to know the old one's epoch", func() bool {
		return epoch(m.to, "cluster_current_epoch") >= epoch(m.from, "cluster_my_epoch")
	})
	m.to.Do("CLUSTER", "BUMPEPOCH")
}

// epoch is a field of CLUSTER INFO.
func epoch(node *RedisServer, field string) int {
	n, _ := strconv.Atoi(infoField(node.Do("CLUSTER", "INFO"), field))
	return n
}

// assign gives the slot to the new master, which learns it first, so that nobody points
// at a master that refuses.
func (m *SlotMove) assign() {
	m.from.t.Helper()
	id := nodeID(m.to)
	m.to.Do("CLUSTER", "SETSLOT", m.slot, "NODE", id)
	m.from.Do("CLUSTER", "SETSLOT", m.slot, "NODE", id)
	for _, node := range m.cluster.Nodes {
		if !slices.Contains([]*RedisServer{m.from, m.to}, node) && !node.proc.isGone() && node.IsMaster() {
			node.Do("CLUSTER", "SETSLOT", m.slot, "NODE", id)
		}
	}
}

// MoveSlot moves a slot with all its keys, as a resharding does. Keys written
// meanwhile are moved too.
func (c *ClusterSet) MoveSlot(slot int, from, to *RedisServer) {
	c.t.Helper()
	c.StartMove(slot, from, to).Finish()
}
