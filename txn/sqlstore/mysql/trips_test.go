package mysql_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// TestPacketsDo: writes of which none is refused need no second way.
func TestPacketsDo(t *testing.T) {
	s := subject(start(t))
	store, user := s.Store(t, nil), s.User(t)
	rec := &driver.Record{ID: "a", Status: driver.Running, Epoch: 3}
	if err := store.Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		was := rec.Version()
		rec.Epoch++
		if err := store.Update(t.Context(), was, rec); err != nil {
			t.Fatal(err)
		}
	}
	for counter, want := range map[string]int{"Com_commit": 11, "Com_rollback": 0} {
		var n int
		query := "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = ?"
		row := user.QueryRowContext(t.Context(), query, counter)
		if err := row.Scan(&n); err != nil || n != want {
			t.Errorf("%s is %d, want %d: %v", counter, n, want, err)
		}
	}
}
