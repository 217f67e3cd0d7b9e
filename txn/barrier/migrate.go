package barrier

import (
	"context"
	"fmt"
)

// Migrate makes the barrier's table if it is not there. Several may do so at once.
func (b *Barrier) Migrate(ctx context.Context) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("barrier: migrate: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // of no effect after the commit
	for _, statement := range b.migration() {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("barrier: migrate table %s: %w", b.layout.table, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("barrier: migrate: commit: %w", err)
	}
	return nil
}

// migration is the schema. PostgreSQL's IF NOT EXISTS fails when two make the same
// table at the same time, so one waits for the other; whatever tables they make, for
// one table has many spellings.
func (b *Barrier) migration() []string {
	if b.layout.dialect != Postgres {
		return b.layout.schema
	}
	lock := "SELECT pg_advisory_xact_lock(hashtext('bedrock_barrier'))"
	return append([]string{lock}, b.layout.schema...)
}
