package memlock_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestHeirOfARaisedVote: who stands behind a vote has tokens from before it was raised, and is granted the lock by
// them.
func TestHeirOfARaisedVote(t *testing.T) {
	store := memlock.NewStore(nil)
	a, b := memlock.NewBackend(store), memlock.NewBackend(store)
	var told []driver.Grant
	b.(driver.Successor).Inherit(func(g driver.Grant) { told = append(told, g) })
	req := driver.Request{Name: "a", Owner: "a:1", TTL: time.Minute, Tokens: 1, Above: 1}
	g, err := a.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	waits := driver.Request{Name: "a", Owner: "b:1", TTL: time.Minute, Tokens: 1}
	_, err = b.(driver.Successor).Stand(t.Context(), waits)
	t.Log(err)
	req.Above = g.Token + 1_000_000
	if g, err = a.Acquire(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	for _, h := range told {
		if h.Token <= g.Token {
			t.Errorf("token %d after %d", h.Token, g.Token)
		}
	}
}
