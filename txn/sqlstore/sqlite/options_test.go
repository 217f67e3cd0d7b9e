package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// TestOptionThatMakesNoSenseIsAccepted: SQLite takes a wait of a month for none, and so it does 10,
// which is 10 ns.
func TestOptionThatMakesNoSenseIsAccepted(t *testing.T) {
	for _, test := range []struct {
		field string
		opts  sqlite.Options
	}{
		{"busyTimeout", sqlite.Options{BusyTimeout: 30 * 24 * time.Hour}},
		{"busyTimeout", sqlite.Options{BusyTimeout: 10}},
		{"busyTimeout", sqlite.Options{BusyTimeout: -1}},
		{"readers", sqlite.Options{Readers: -1}},
		{"table", sqlite.Options{Table: "Bedrock; DROP TABLE x"}},
	} {
		_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "bedrock.db"), &test.opts)
		if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != test.field {
			t.Errorf("%s: %v", test.field, err)
		}
	}
	longest := &sqlite.Options{BusyTimeout: 24 * time.Hour, Readers: 1}
	if err := open(t, filepath.Join(t.TempDir(), "bedrock.db"), longest).Create(t.Context(), record("a")); err != nil {
		t.Error(err)
	}
}
