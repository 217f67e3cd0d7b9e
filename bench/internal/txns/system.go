package txns

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/bench/internal/load"
)

// A mode is a kind of transaction, and how its client goes about it.
type mode string

const (
	// saga is submitted and waited for.
	saga mode = "saga"
	// tcc is submitted whole; the coordinator makes the tries.
	tcc mode = "tcc"
	// ownTries is a TCC transaction whose client begins it, registers each branch
	// before it makes its try, and decides.
	ownTries mode = "tcc-own-tries"
	// message is prepared, submitted and waited for.
	message mode = "msg"
)

// system is a coordinator that runs.
type system interface {
	// doer is what a client does for one transaction of a mode, with the participants
	// at an address.
	doer(m mode, addr string) (load.Do, error)
	// submitSaga hands over a saga and does not wait; n tells the sagas apart.
	submitSaga(ctx context.Context, client, n int, addr string) error
	// finished is how many of the first n submitted sagas are committed.
	finished(ctx context.Context, n int) (int, error)
	// processes are those of the coordinator and of its store, as far as they run
	// on this machine and are known.
	processes() (coordinator, store []int)
	// stop ends it and removes what it has stored.
	stop() error
}

// start runs a subject's coordinator.
func (b *bed) start(ctx context.Context, s Subject, profile string) (system, error) {
	switch s.Role {
	case Bedrock:
		return b.startBedrock(ctx, s, profile)
	case Minimal:
		return b.startMinimal(ctx, profile)
	case DTM:
		return b.reachDTM(s), nil
	default:
		return nil, fmt.Errorf("%s is not a coordinator", s.Name)
	}
}

// unfit is the error of a mode that a system does not have.
func unfit(system string, m mode) error { return fmt.Errorf("%s does not do %s", system, m) }
