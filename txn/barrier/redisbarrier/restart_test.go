package redisbarrier_test

import (
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// TestRestartForgetsAMessage: what became of a message's producer is answered the same
// before and after a restart, and after a crash.
func TestRestartForgetsAMessage(t *testing.T) {
	t.Parallel()
	withEach(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF}, testRestartForgetsAMessage)
}

func testRestartForgetsAMessage(t *testing.T, s *setup) {
	t.Helper()
	check := s.b.Check(func(txn.Call) string { return "k" })
	prepared, asked := txn.Call{Transaction: txn.NewID()}, txn.Call{Transaction: txn.NewID()}
	for name, breakAll := range map[string]func(){
		"nothing":   func() {},
		"a restart": func() { s.s.Restart(true) },
		"a crash":   func() { s.s.Kill(); s.s.Restart(true) },
	} {
		if _, err := s.b.Prepare(t.Context(), prepared.Transaction, add, []string{"k"}, 1, "first"); err != nil {
			t.Fatal(err)
		}
		if _, err := check(t.Context(), asked); !txn.Aborted(err) {
			t.Fatalf("nothing was prepared: %v", err)
		}
		breakAll()
		if _, err := check(t.Context(), prepared); err != nil {
			t.Errorf("after %s: what was prepared: %v", name, err)
		}
		again, err := s.b.Prepare(t.Context(), prepared.Transaction, add, []string{"k"}, 1, "second")
		if err != nil || string(again) != "first" {
			t.Errorf("after %s: prepared again: %q, %v", name, again, err)
		}
		_, err = s.b.Prepare(t.Context(), asked.Transaction, add, []string{"k"}, 1, "")
		if !errors.Is(err, barrier.ErrRolledBack) {
			t.Errorf("after %s: prepared too late: %v", name, err)
		}
		s.want(t, "k", "1")
	}
}
