package locks_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/locks"
	"github.com/bedrock-go/bedrock/bench/internal/stores"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// otherStores are all but Redis.
func otherStores() []subject.Store {
	return slices.DeleteFunc(subject.Stores(), func(s subject.Store) bool { return s == subject.Redis })
}

// TestEveryStoreIsMeasured: what is in Go excludes and wakes, and raw requests do what they are for.
func TestEveryStoreIsMeasured(t *testing.T) {
	for _, store := range otherStores() {
		t.Run(store.String(), func(t *testing.T) {
			server, err := stores.Start(t.Context(), store, memory())
			if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer server.Stop()
			measureStore(t, server)
		})
	}
}

// memory is a folder that no disk is behind, if there is one: others may keep the disk busy for seconds.
func memory() string {
	const folder = "/dev/shm"
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return folder
	}
	return ""
}

// measureStore measures what is short.
func measureStore(t *testing.T, server *stores.Server) {
	t.Helper()
	var chosen []string
	for _, s := range subject.All() {
		if s.Store == server.Store && s.Program == nil {
			chosen = append(chosen, s.Name)
		}
	}
	suite := &locks.Suite{
		Store: server.Store, Addr: server.Addr, Quick: true, Time: 200 * time.Millisecond,
		Workloads: []string{"own-keys-64", "contended-64", "round-trip"}, Subjects: chosen,
	}
	measured := make(map[string]bool)
	for _, o := range suite.Run(t.Context()) {
		found := o.Median()
		if o.Err != nil || found[locks.Value] <= 0 || found[locks.Violations] > 0 {
			t.Errorf("%s of %s: %v, %v", o.Workload.Name, o.Subject.Name, found, o.Err)
		}
		if _, told := found[locks.ServerTime]; told {
			t.Errorf("%s of %s has a time of the server: %v", o.Workload.Name, o.Subject.Name, found)
		}
		measured[o.Subject.Name] = true
	}
	for _, name := range chosen {
		if !measured[name] {
			t.Errorf("%s is not measured", name)
		}
	}
}

// TestSubjectsOfAStoreAreComparable: each store has ours, a peer, and raw requests by the same client.
func TestSubjectsOfAStoreAreComparable(t *testing.T) {
	for _, store := range subject.Stores() {
		clients := make(map[subject.Role][]string)
		for _, s := range subject.All() {
			if s.Store == store {
				clients[s.Role] = append(clients[s.Role], s.Client)
			}
		}
		if len(clients[subject.Peer]) == 0 {
			t.Errorf("%s has no peer", store)
		}
		for _, client := range clients[subject.Bedrock] {
			if !slices.Contains(clients[subject.Raw], client) {
				t.Errorf("%s by %s has nothing raw beside it", store, client)
			}
		}
	}
}

// TestOtherStoresHaveTheirWorkloads: those that are the same for all, and few of their own.
func TestOtherStoresHaveTheirWorkloads(t *testing.T) {
	common := []string{
		"uncontended-1", "own-keys-64", "contended-64", "contended-4x16", "contended-4x1", "waiters-1000", "handoff",
	}
	own := map[subject.Store][]string{
		subject.Postgres: {"round-trip"}, subject.MariaDB: {"round-trip"}, subject.SQLite: {"file-4x50"},
	}
	for _, store := range otherStores() {
		var got []string
		for _, w := range locks.Workloads(true) {
			if slices.Contains(w.Stores, store) {
				got = append(got, w.Name)
			}
		}
		if want := slices.Concat(common, own[store]); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", store, got, want)
		}
	}
}
