package sqltest

import (
	"strings"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// replicasStartTogether: all of them find the schema missing, and one makes it.
func replicasStartTogether(t *testing.T, s Subject) {
	const replicas = 8
	stores := make([]*sqlstore.Store, replicas)
	errs := make([]error, replicas)
	var group sync.WaitGroup
	for i := range replicas {
		group.Go(func() { stores[i], errs[i] = s.Open(t.Context(), &sqlstore.Options{Table: "together"}) })
	}
	group.Wait()
	for i, store := range stores {
		if errs[i] != nil {
			t.Errorf("replica %d: %v", i, errs[i])
			continue
		}
		if err := store.Create(t.Context(), dueRecord(numbered("r", i))); err != nil {
			t.Errorf("replica %d: %v", i, err)
		}
		if err := store.Close(); err != nil {
			t.Errorf("replica %d: close: %v", i, err)
		}
	}
	var versions int
	row := s.User(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM together_schema")
	if err := row.Scan(&versions); err != nil || versions != 1 {
		t.Errorf("%d versions are noted, want 1: %v", versions, err)
	}
}

// newerSchemaIsRefused: code that does not know a column would not keep it.
func newerSchemaIsRefused(t *testing.T, s Subject) {
	opts := &sqlstore.Options{Table: "newer"}
	store := s.Store(t, opts)
	_, version, err := store.Migrate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	insert := "INSERT INTO newer_schema (version, applied) VALUES (99, 0)"
	if _, err := s.User(t).ExecContext(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []*sqlstore.Options{opts, {Table: opts.Table, NoMigrate: true}} {
		store, err := s.Open(t.Context(), opts)
		if err == nil {
			store.Close()
			t.Fatalf("%+v: opened a schema of version 99, known are %d", opts, version)
		}
		if !strings.Contains(err.Error(), "schema of newer has version 99") {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

// schemaIsLeftAlone: whoever may not change schemas is told what to do.
func schemaIsLeftAlone(t *testing.T, s Subject) {
	opts := &sqlstore.Options{Table: "alone", NoMigrate: true}
	store, err := s.Open(t.Context(), opts)
	if err == nil {
		store.Close()
		t.Fatal("opened without a schema")
	}
	if !strings.Contains(err.Error(), "migrated first") {
		t.Errorf("without a schema: %v", err)
	}
	first := s.Store(t, &sqlstore.Options{Table: "alone"})
	if from, to, err := first.Migrate(t.Context()); err != nil || from != to || to == 0 {
		t.Errorf("second migration: from %d to %d, %v", from, to, err)
	}
	if err := s.Store(t, opts).Create(t.Context(), dueRecord("a")); err != nil {
		t.Errorf("with the schema: %v", err)
	}
	oldSchemaIsRefused(t, s, opts)
}

// oldSchemaIsRefused takes note of the migration back, as if the process had
// died before it wrote that. The next one goes through it again.
func oldSchemaIsRefused(t *testing.T, s Subject, opts *sqlstore.Options) {
	t.Helper()
	if _, err := s.User(t).ExecContext(t.Context(), "DELETE FROM "+opts.Table+"_schema"); err != nil {
		t.Fatal(err)
	}
	store, err := s.Open(t.Context(), opts)
	if err == nil {
		store.Close()
		t.Fatal("opened with an old schema")
	}
	if !strings.Contains(err.Error(), "has version 0") {
		t.Errorf("with an old schema: %v", err)
	}
	if _, err := s.Store(t, &sqlstore.Options{Table: opts.Table}).Load(t.Context(), "a"); err != nil {
		t.Errorf("after a second migration: %v", err)
	}
}
