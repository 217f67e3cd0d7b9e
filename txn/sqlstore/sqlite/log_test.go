package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// TestLogGrowsWhileReadsOverlap: there is always somebody who reads from the log, and
// all the same it begins anew from time to time.
func TestLogGrowsWhileReadsOverlap(t *testing.T) {
	const large, row, rows = 1 << 20, 100_000, 800
	path, err := create(filepath.Join(t.TempDir(), "bedrock.db"))
	if err != nil {
		t.Fatal(err)
	}
	d, db, err := databases(t.Context(), path, (&Options{largeLog: large}).filled())
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlstore.Open(t.Context(), d, db, &sqlstore.Options{Writers: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error, 1)
	go func() { read <- overlap(ctx, db.Read) }()
	var longest int64
	for n := range rows {
		rec := newRecord()
		rec.ID, rec.Spec = fmt.Sprint(n), make([]byte, row)
		if err := store.Create(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, size(t, path+"-wal"))
	}
	if longest > 4*large {
		t.Errorf("the log had %d bytes while %d were written: want a few times %d at most", longest, rows*row, large)
	}
	cancel()
	if err := errors.Join(<-read, store.Close()); err != nil {
		t.Error(err)
	}
}

// overlap reads without end, and ends a read when two more have begun.
func overlap(ctx context.Context, db *sql.DB) error {
	var reads []*sql.Tx
	for ctx.Err() == nil {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		reads = append(reads, tx)
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM bedrock_tx").Scan(&n); err != nil {
			return err
		}
		if len(reads) > 2 {
			if err := reads[0].Rollback(); err != nil {
				return err
			}
			reads = reads[1:]
		}
	}
	var errs []error
	for _, tx := range reads {
		errs = append(errs, tx.Rollback())
	}
	return errors.Join(errs...)
}
