package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// TestOptionThatMakesNoSenseIsAccepted: SQLite takes a wait of a month for none.
func TestOptionThatMakesNoSenseIsAccepted(t *testing.T) {
	for field, opts := range map[string]sqlite.Options{
		"busyTimeout": {BusyTimeout: 30 * 24 * time.Hour},
		"readers":     {Readers: -1},
		"table":       {Table: "Bedrock; DROP TABLE x"},
	} {
		_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "bedrock.db"), &opts)
		if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	longest := &sqlite.Options{BusyTimeout: 24 * time.Hour, Readers: 1}
	if err := open(t, filepath.Join(t.TempDir(), "bedrock.db"), longest).Create(t.Context(), record("a")); err != nil {
		t.Error(err)
	}
}
