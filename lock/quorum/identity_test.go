package quorum_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// process is a node that is another one after each start.
type process struct {
	*bedrocktest.Backend
	starts *int
}

// Identity implements [driver.Identifier].
func (p *process) Identity(ctx context.Context) (string, error) {
	if _, err := p.Backend.Identity(ctx); err != nil {
		return "", err
	}
	return fmt.Sprint("run ", *p.starts), nil
}

// TestStoreThatIsStartedAgainHasTwoVotes: it is there under two addresses, and was started again before the second one
// works: it calls itself by another name than before.
func TestStoreThatIsStartedAgainHasTwoVotes(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		starts := 1
		nodes[1] = nodes[0]
		lines, backends := nodes.Connect()
		for i := range backends[:2] {
			backends[i] = &process{lines[i], &starts}
		}
		m := memberOf(t, lines, backends, nil)
		m.down(2)
		mustUnlock(t, mustLock(t, m, "x"))
		nodes[0].Restart()
		starts++
		m.up(2)
		pass(time.Hour)
		m.down(3)
		pass(time.Second)
		_, err := m.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, driver.ErrRefused, "nodes 1 and 2 are one store, run 2")
		m.up(3)
	})
}
