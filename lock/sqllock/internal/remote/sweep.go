package remote

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// sweepIdle looks at some names now and then, and forgets what is over. Nobody waits for that.
func (s *Store) sweepIdle() {
	s.mu.Lock()
	due := s.sweeper.IsDue(1)
	s.mu.Unlock()
	if !due || !s.underway.startRequest() {
		return
	}
	go func() {
		defer s.underway.work.Done()
		ctx, cancel := context.WithTimeout(s.underway.life, patience)
		defer cancel()
		_ = s.sweepSome(ctx) // else it is for another time
	}()
}

// sweepSome forgets the next names that are over, one after the other: others may want them at this moment.
func (s *Store) sweepSome(ctx context.Context) error {
	s.mu.Lock()
	after := s.sweeper.After
	s.mu.Unlock()
	var names, idle []string
	err := s.Reading(ctx, func(q rows.Querier) (err error) {
		names, idle, err = s.Layout.Names(ctx, q, after, keeper.SweptNames, ledger.IdleTime)
		return err
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.sweeper.Pass(names)
	s.mu.Unlock()
	for _, name := range idle {
		step := keeper.Sweep([]string{name})
		step.Free = s.SkipsTaken(ctx)
		if err := s.transact(ctx, step); err != nil {
			return err
		}
	}
	return nil
}
