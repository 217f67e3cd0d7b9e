package main

import (
	"fmt"
	"io"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/storeurl"
)

// defaultLocks is where locks are when nobody says anything: in the server's memory.
const defaultLocks = "mem:"

// lockBackend finds out where locks are kept. Servers that share a store would each
// grant the same lock out of their own memory, so there nothing is taken for granted.
func (f *serveFlags) lockBackend(store *storeurl.Location) (*lockurl.Backend, error) {
	switch {
	case f.locks.typed():
		return f.locks.open(f.locks.urls, "--locks")
	case store.Shared():
		return nil, fmt.Errorf("--locks is missing: several servers may work on --store %s, and each would grant the "+
			"same lock out of its own memory; write --locks redis://host:6379 on all of them, or --locks mem: if "+
			"there is one server only, or nobody takes locks from it", store)
	}
	return f.locks.open([]string{defaultLocks}, "--locks")
}

// locksShown says where locks are kept.
func (p *servePlan) locksShown() string {
	if p.daemon.Locks.Memory() {
		return "memory of this server: gone when it stops, and no other server sees them"
	}
	return p.daemon.Locks.String()
}

// warnOfMemory says what is not safe about locks in memory beside a shared store.
func (p *servePlan) warnOfMemory(w io.Writer) {
	if p.daemon.Locks.Memory() && p.store.Shared() {
		fmt.Fprintf(w, "bedrock: warning: --locks mem: beside --store %s: another server on this store would grant "+
			"locks that this one has granted, too; run one server only, or give all of them one --locks redis://…\n",
			p.store)
	}
}
