package sqltest

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// Subject is a database under test.
type Subject struct {
	// Open opens a store; it may be called several times.
	Open func(context.Context, *sqlstore.Options) (*sqlstore.Store, error)
	// User are connections of the program to the same database.
	User func(testing.TB) *sql.DB
}

// Store opens a store that is closed at the end of the test.
func (s Subject) Store(t testing.TB, opts *sqlstore.Options) *sqlstore.Store {
	t.Helper()
	store, err := s.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

// Run runs all tests that need no fault, on tables of their own.
func (s Subject) Run(t *testing.T) {
	for name, test := range map[string]func(*testing.T, Subject){
		"ReplicasStartTogether":          replicasStartTogether,
		"NewerSchemaIsRefused":           newerSchemaIsRefused,
		"SchemaIsLeftAlone":              schemaIsLeftAlone,
		"CreateFollowsItsTransaction":    createFollowsItsTransaction,
		"TakenIDLeavesTransactionUsable": takenIDLeavesTransactionUsable,
		"DuplicatesAmongMany":            duplicatesAmongMany,
		"StaleAmongMany":                 staleAmongMany,
		"ClaimsAndWritesDoNotCollide":    claimsAndWritesDoNotCollide,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// dueRecord returns a record that is due.
func dueRecord(id string) *driver.Record {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return &driver.Record{
		ID: id, Mode: "saga", Name: "order", Status: driver.Running, Digest: "digest", Created: now, Updated: now,
		Due: now.Add(-time.Second), Spec: []byte("spec"), State: []byte("state"),
	}
}

func numbered(prefix string, n int) string { return fmt.Sprintf("%s-%05d", prefix, n) }
