package sqlite

import (
	"path/filepath"
	"testing"
)

// TestCommitIsOnTheDisk: no test can cut the power, but every connection must ask
// for what survives that.
func TestCommitIsOnTheDisk(t *testing.T) {
	path, err := create(filepath.Join(t.TempDir(), "bedrock.db"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := connect(path, (*Options)(nil).filled(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for pragma, want := range map[string]string{
		"synchronous": "2", "journal_mode": "wal", "fullfsync": "1", "busy_timeout": "10000",
	} {
		var got string
		if err := db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, want %s: %v", pragma, got, want, err)
		}
	}
}
