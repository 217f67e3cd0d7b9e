package redislock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// frozenElsewhere is a connection to a cluster one of whose masters never answers:
// not the one that has the locks.
type frozenElsewhere struct{ redislock.Conn }

// Cluster implements redislock.Conn.
func (frozenElsewhere) Cluster() bool { return true }

// EachMaster implements redislock.Conn.
func (frozenElsewhere) EachMaster(ctx context.Context, _ func(redislock.Node) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestFrozenMasterEndsTheLeasesOfOthers: before it is known how this cluster publishes,
// one of its masters freezes. What the others have is renewed.
func TestFrozenMasterEndsTheLeasesOfOthers(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redislock.Conn) {
		b := open(t, frozenElsewhere{connect(t, single(testenv.Redis(t, nil)))}, nil)
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := b.Renew(ctx, []driver.Grant{g})[0]; err != nil {
			t.Errorf("renew: %v", err)
		}
	})
}
