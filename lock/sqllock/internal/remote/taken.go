package remote

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// SkipsTaken reports whether the database can leave out rows that somebody has: old ones do not know the words. Those
// are tried once.
func (s *Store) SkipsTaken(ctx context.Context) bool {
	const unknown, no, yes = 0, 1, 2
	if known := s.skips.Load(); known != unknown || s.Layout.Kind == sqlkind.Postgres { // each of which does
		return known != no
	}
	err := s.Run(ctx, func() error {
		return s.Reading(ctx, func(q rows.Querier) error {
			_, err := s.Layout.LockFree(ctx, q, "", "")
			return err
		})
	})
	switch {
	case err == nil:
		s.skips.Store(yes)
	case errors.Is(err, driver.ErrRefused):
		s.skips.Store(no)
	}
	return err == nil
}

// lockRow has the row of a name, and reports whether there is one. If somebody else has it, a step that leaves it out
// has a row that is not known.
func (s *Store) lockRow(
	ctx context.Context, q rows.Querier, name string, step *keeper.Step,
) (row *rows.Row, there bool, err error) {
	if !step.Free {
		row, err = s.Layout.Lock(ctx, q, name, step.ID)
		return row, err == nil && row.State.Known, err
	}
	row, err = s.Layout.LockFree(ctx, q, name, step.ID)
	if err != nil || row.State.Known {
		return row, err == nil, err
	}
	seen, err := s.Layout.Load(ctx, q, name, "")
	return row, err == nil && seen.State.Known, err
}

// mostWaiters is how many requests may wait side by side where the pool has no limit.
const mostWaiters = 4

// Waiters implements [keeper.Store]. One connection at least is left to others, where there are several.
func (s *Store) Waiters() int {
	if most := s.DB.Stats().MaxOpenConnections; most > 0 {
		return max(1, min(mostWaiters, most-1))
	}
	return mostWaiters
}
