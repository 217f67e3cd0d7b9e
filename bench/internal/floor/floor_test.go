package floor_test

import (
	"database/sql"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/bench/internal/floor"
)

func TestWhatWasWrittenIsInTheDatabase(t *testing.T) {
	dir := t.TempDir()
	group, err := floor.OpenSQLite(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	const writers, each = 20, 25
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			result := make(chan error, 1)
			for range each {
				if err := group.Write([]byte("record"), result); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "floor.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows int
	if err := db.QueryRowContext(t.Context(),
		"SELECT COUNT(*) FROM floor WHERE record = x'7265636f7264'").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != writers*each {
		t.Errorf("%d rows, want %d", rows, writers*each)
	}
}
