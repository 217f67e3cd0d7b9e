package ledger_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// TestLatchCountsACallTwice: one that is made again is told what it was told, and changes nothing.
func TestLatchCountsACallTwice(t *testing.T) {
	s, c := ledger.State{Name: name, Known: true}, &ledger.Clock{Now: 1, Wall: 1}
	for range 2 {
		if set, err := s.SetLatch(c, "set", 3); !set || err != nil {
			t.Fatalf("set: %t, %v", set, err)
		}
	}
	for range 2 {
		if left, err := s.CountDown(c, "down", 1); left != 2 || err != nil {
			t.Errorf("2 are left, and told is %d, %v", left, err)
		}
	}
	if left, err := s.LatchCount(c); left != 2 || err != nil {
		t.Errorf("2 are left, and shown are %d, %v", left, err)
	}
}
