package zklock_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestLateCopyHidesAGrant: late copies of the request by which a lock was granted come while it is renewed, noted
// beside, and made one to read. It is not lost.
func TestLateCopyHidesAGrant(t *testing.T) {
	server := testenv.StartZooKeeper(t, nil)
	b := open(t, nil, server[0].Addr())
	req := request("a", "o:1")
	req.Mode = driver.Write
	g := mustAcquire(t, b, req)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 300 {
			if again, err := b.Acquire(t.Context(), req); err != nil || again.Token != g.Token {
				t.Errorf("a copy: token %d, %v", again.Token, err)
				return
			}
		}
	}()
	for under := true; under && !t.Failed(); {
		select {
		case <-ended:
			under = false
		default:
		}
		if err := b.Renew(t.Context(), []driver.Grant{g})[0]; err != nil {
			t.Errorf("renewal: %v", err)
		}
		if err := b.(driver.Annotator).Annotate(t.Context(), g, "x"); err != nil {
			t.Errorf("note: %v", err)
		}
	}
	<-ended
	go func() { _, _ = b.Acquire(t.Context(), req) }()
	if err := b.(driver.Downgrader).Downgrade(t.Context(), g); err != nil {
		t.Errorf("downgrade: %v", err)
	}
	g.Mode = driver.Shared
	if err := b.Renew(t.Context(), []driver.Grant{g})[0]; err != nil {
		t.Errorf("renewal of what reads now: %v", err)
	}
}
