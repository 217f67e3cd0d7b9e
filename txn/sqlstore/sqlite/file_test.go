package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// TestOthersCannotRead: payloads are nobody else's business, in the log as little
// as in the file.
func TestOthersCannotRead(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	path := filepath.Join(folder, "bedrock.db")
	store := open(t, path, nil)
	if err := store.Create(t.Context(), record("a")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		folder: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + "-owner": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
		} else if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %o, want %o", name, got, want)
		}
	}
}

// TestStrangeName: what a URL would take for its own is part of the name.
func TestStrangeName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%20e&_pragma=synchronous(0).db")
	store := open(t, path, nil)
	if err := store.Create(t.Context(), record("a")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		t.Errorf("the file is not where it should be: %v", err)
	}
}

func TestNoFile(t *testing.T) {
	folder := t.TempDir()
	noDatabase := filepath.Join(folder, "letter.txt")
	letter := []byte("this is a letter, and no database at all, however long it may be")
	if err := os.WriteFile(noDatabase, letter, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", ":memory:", folder, noDatabase, filepath.Join(noDatabase, "bedrock.db")} {
		if store, err := sqlite.Open(t.Context(), path, nil); err == nil {
			store.Close()
			t.Errorf("%q was opened", path)
		} else {
			t.Log(err)
		}
	}
}
