package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// CheckWrites adds to what was found, if it is so, that this account may not do what takes a lock. It tries, by
// statements that change nothing.
func (s *Store) CheckWrites(
	ctx context.Context, found []driver.Finding, changes []string,
) ([]driver.Finding, error) {
	err := s.tryChanges(ctx, changes)
	refusal := s.Unwritten(err)
	switch {
	case err == nil:
	case errors.Is(refusal, driver.ErrRefused):
		found = append(found, driver.Finding{
			Level: driver.Danger, What: fmt.Sprintf("this account cannot write what locks are kept in: %v", err),
			Means: "it takes no locks",
		})
	case !slices.ContainsFunc(found, isDanger): // such as that the server takes no writes
		return nil, refusal
	}
	return found, nil
}

func isDanger(f driver.Finding) bool { return f.Level == driver.Danger }

func (s *Store) tryChanges(ctx context.Context, changes []string) error {
	tx, err := s.beginTx(ctx, s.Dialect.Begin)
	if err != nil {
		return err
	}
	defer tx.RollBack(ctx)
	for _, text := range changes {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
