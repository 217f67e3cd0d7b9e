package main

import (
	"fmt"
	"io"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/storeurl"
)

// lockBackend finds out where locks are kept: with the store, unless somebody says otherwise. All servers that share
// the store share them, too, and none grants what another one has granted.
func (f *serveFlags) lockBackend(store *storeurl.Location) (*lockurl.Backend, error) {
	urls := []string{store.Locks()}
	if f.locks.typed() {
		urls = f.locks.urls
	}
	backend, err := f.locks.open(urls, "--locks")
	if err != nil {
		return nil, err
	}
	if err := backend.Lends(); err != nil {
		return nil, fmt.Errorf("--locks: %w", err)
	}
	if f.noMigrate {
		backend.LeaveTables()
	}
	return backend, nil
}

// locksShown says where locks are kept.
func (p *servePlan) locksShown() string {
	if p.daemon.Locks.Memory() {
		return "memory of this server: gone when it stops, and no other server sees them"
	}
	return p.daemon.Locks.String()
}

// warnOfMemory says what is not safe about locks in memory beside a store that stays.
func (p *servePlan) warnOfMemory(w io.Writer) {
	switch {
	case !p.daemon.Locks.Memory() || p.store.Kind == storeurl.Memory:
	case p.store.Shared():
		fmt.Fprintf(w, "bedrock: warning: --locks mem: beside --store %s: another server on this store would grant "+
			"locks that this one has granted, too; run one server only, or leave --locks out\n", p.store)
	default:
		fmt.Fprintf(w, "bedrock: warning: --locks mem: beside --store %s: who has a lock when this server stops "+
			"keeps it until its time is over, and the next server grants it at once\n", p.store)
	}
}
