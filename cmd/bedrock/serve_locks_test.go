package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/storeurl"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	txndriver "github.com/bedrock-go/bedrock/txn/driver"
)

// TestLocksAreWithTheStore: servers that share a store share its locks, unless somebody says otherwise.
func TestLocksAreWithTheStore(t *testing.T) {
	for _, c := range []struct{ store, locks, at, warned string }{
		{store: "mem:", at: "mem:"},
		{store: "sqlite:x.db", at: "sqlite:x.db-locks"},
		{store: "postgres://u:secret@h/d?sslmode=disable", at: "postgres://h/d"},
		{store: "mysql://u:secret@h/d", at: "mysql://h/d"},
		{store: "redis://:secret@h/3", at: "redis://h:6379/3"},
		{store: "sqlite:x.db", locks: "mem:", at: "mem:", warned: "the next server grants it at once"},
		{store: "postgres://h/d", locks: "mem:", at: "mem:", warned: "another server on this store would grant"},
		{store: "postgres://h/d", locks: "redis://h", at: "redis://h:6379"},
		{store: "mem:", locks: "etcd://h", at: "etcd://h:2379"},
	} {
		store, err := storeurl.Parse(c.store)
		if err != nil {
			t.Fatal(err)
		}
		locks, err := (&serveFlags{locks: backendFlags{urls: []string{c.locks}}}).lockBackend(store)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if locks.String() != c.at {
			t.Errorf("%+v: locks are at %s", c, locks)
		}
		var said bytes.Buffer
		p := &servePlan{store: store}
		p.daemon.Locks = locks
		p.warnOfMemory(&said)
		if (said.Len() > 0) != (c.warned != "") || !strings.Contains(said.String(), c.warned) {
			t.Errorf("%+v: said %q", c, &said)
		}
	}
}

// TestLocksThatEndWithTheServerAreRefused: its clients would have them still.
func TestLocksThatEndWithTheServerAreRefused(t *testing.T) {
	store, err := storeurl.Parse("mem:")
	if err != nil {
		t.Fatal(err)
	}
	_, err = (&serveFlags{locks: backendFlags{urls: []string{"zk://h"}}}).lockBackend(store)
	if err == nil || !strings.Contains(err.Error(), "would end with its session") {
		t.Errorf("got %v", err)
	}
}

// TestLocksReachTheStoresKeys: on a Redis both are in one place, and who may take locks may not change transactions.
func TestLocksReachTheStoresKeys(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF})
	at, err := storeurl.Parse("redis://" + server.Addr())
	must(t, err)
	store, err := at.Open(t.Context(), nil)
	must(t, err)
	defer store.Close()
	now := time.Now()
	must(t, store.Create(t.Context(), &txndriver.Record{
		ID: "order-7", Mode: "saga", Status: txndriver.Running, Owner: "one", Epoch: 1,
		Due: now, Created: now, Updated: now, Spec: []byte("{}"), State: []byte("{}"),
	}))
	locks, err := (&serveFlags{}).lockBackend(at)
	must(t, err)
	session, err := locks.Open(lock.Options{})
	must(t, err)
	defer func() { _ = session.Stop(t.Context()) }()
	conn := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer conn.Close()
	keys, err := conn.Keys(t.Context(), "*").Result()
	must(t, err)
	if len(keys) == 0 {
		t.Fatal("a transaction without a key")
	}
	for _, key := range keys {
		if _, err := session.Mutex(key, nil).TryLock(t.Context()); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("a lock called %q: %v, want it to be refused", key, err)
		}
	}
}
