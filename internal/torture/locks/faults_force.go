package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// forceFaults take a lock from its holder by force, as a person would with 'bedrock lock release'. He learns of it
// when he renews, so there may be two at once of that lock, and of no other.
func (r *run) forceFaults() []nemesis.Fault {
	if !r.scene.Mixed {
		return nil
	}
	return []nemesis.Fault{{
		Name: "released by force", Excuses: nemesis.Excuses{Loss: true, Twice: true}, Strike: r.forceRelease,
	}}
}

var errNeverHeld = errors.New("nobody had the lock whenever it was to be released by force")

// forceRelease ends leases of one shared name, until it has met some.
func (r *run) forceRelease(ctx context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
	s, err := r.connect()
	if err != nil {
		return e, err
	}
	defer s.hangUp()
	defer func() { _ = s.Stop(ctx) }()
	e.Lock = fmt.Sprintf("%shot/%d", r.scene.Prefix, random.IntN(hotNames))
	if random.IntN(2) == 0 {
		e.Lock = fmt.Sprintf("%slong/%d", r.scene.Prefix, random.IntN(longNames))
	}
	e.From = history.Now()
	met, most := 0, 1+random.IntN(5)
	for tries := 0; met < most && tries < 100; tries++ {
		held, err := s.ForceRelease(ctx, e.Lock)
		if err != nil {
			return e, err
		}
		if held {
			met++
		}
		sleep.For(ctx, nemesis.Between(random, 0, 20*time.Millisecond))
	}
	e.To = history.Now()
	if met == 0 {
		return e, errNeverHeld
	}
	e.Evidence = fmt.Sprintf("%s was held %d times", e.Lock, met)
	return e, nil
}
