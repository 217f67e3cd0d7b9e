package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/storeurl"
)

// TestReplicasGrantALockTwice: where servers can share a store, each of them would
// grant locks out of its own memory, unless somebody says what is meant.
func TestReplicasGrantALockTwice(t *testing.T) {
	for _, c := range []struct {
		store, locks    string
		refused, warned bool
	}{
		{store: "mem:"},
		{store: "sqlite:x.db"},
		{store: "sqlite:x.db", locks: "mem:"},
		{store: "postgres://h/d", refused: true},
		{store: "mysql://u@h/d", refused: true},
		{store: "redis://h", refused: true},
		{store: "postgres://h/d", locks: "mem:", warned: true},
		{store: "postgres://h/d", locks: "redis://h"},
	} {
		store, err := storeurl.Parse(c.store)
		if err != nil {
			t.Fatal(err)
		}
		locks, err := (&serveFlags{locks: backendFlags{urls: []string{c.locks}}}).lockBackend(store)
		if c.refused != (err != nil) || err != nil && !strings.Contains(err.Error(), "write --locks redis://") {
			t.Errorf("%+v: %v", c, err)
		}
		if err != nil {
			continue
		}
		var said bytes.Buffer
		p := &servePlan{store: store}
		p.daemon.Locks = locks
		p.warnOfMemory(&said)
		if c.warned != strings.Contains(said.String(), "would grant locks that this one has granted") {
			t.Errorf("%+v: said %q", c, &said)
		}
	}
}
