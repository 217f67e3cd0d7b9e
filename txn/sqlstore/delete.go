package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// deleteRows is how many records one statement deletes: few enough for SQLite,
// which nests conditions, and for not holding others up.
const deleteRows = 250

// Delete implements [driver.Store]. Every part of a long list is a transaction
// of its own; after an error the count says how many are known to be gone.
func (s *Store) Delete(ctx context.Context, refs []driver.Ref) (int, error) {
	removed := 0
	err := s.whileAlive(ctx, fmt.Sprintf("delete %d records", len(refs)), func(ctx context.Context) error {
		for chunk := range slices.Chunk(refs, deleteRows) {
			n, err := s.remove(ctx, chunk)
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	return removed, err
}

func (s *Store) remove(ctx context.Context, refs []driver.Ref) (int, error) {
	// The list of IDs is what planners understand; the versions are for the rows it
	// leads to.
	text := "DELETE FROM {tx} WHERE " + isFinal + " AND id IN (" + sqlkind.Marks(len(refs)) +
		") AND (" + AsSeen(len(refs)) + ")"
	args := make([]any, 0, 5*len(refs))
	for _, ref := range refs {
		args = append(args, ref.ID)
	}
	for _, ref := range refs {
		args = append(args, ref.ID, ref.Revision, ref.Epoch, ref.Created)
	}
	var n int64
	err := s.syncer.durably(ctx, func() error {
		return s.repeat(ctx, func() error {
			result, err := s.db.Write.ExecContext(ctx, s.sql(text), args...)
			if err != nil {
				return err
			}
			n, err = result.RowsAffected()
			return err
		})
	})
	return int(n), err
}
