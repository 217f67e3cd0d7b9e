package stage

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// Steady is a server whose data outlive it.
type Steady interface {
	Addr() string
	Kill()
	Freeze()
	Thaw()
}

// SteadyFaults are what can be done to such a server, which is called that.
func SteadyFaults(host *Host, name string, server Steady, restart func()) (frozen, killed nemesis.Fault) {
	frozen = nemesis.Fault{
		Name: name + " frozen",
		Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
			return Frozen(ctx, server, nemesis.Between(random, 100*time.Millisecond, 3*time.Second))
		},
	}
	killed = nemesis.Fault{
		Name: name + " killed",
		Strike: func(context.Context, *rand.Rand) (e nemesis.Effect, err error) {
			server.Kill()
			e.Evidence, err = Silent(server.Addr())
			return e, errors.Join(err, host.Try(restart))
		},
	}
	return frozen, killed
}
