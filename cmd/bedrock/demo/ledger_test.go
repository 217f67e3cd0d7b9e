package demo

import "testing"

func TestLedgerRefusesOldTokens(t *testing.T) {
	l := newLedger()
	if _, err := l.read("a", 5); err != nil {
		t.Fatal(err)
	}
	if err := l.write("a", 5, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := l.read("b", 7); err != nil {
		t.Fatal(err)
	}
	if err := l.write("a", 5, 2); err == nil {
		t.Error("an old token was accepted")
	}
	if balance, accepted, rising := l.summary(); balance != 1 || accepted != 1 || !rising {
		t.Errorf("balance %d after %d writes, rising %v", balance, accepted, rising)
	}
}

// The demonstration's own checks must be able to fail.
func TestLedgerNoticesBrokenPromises(t *testing.T) {
	l := newLedger()
	for _, worker := range []string{"a", "b"} {
		if _, err := l.read(worker, 3); err != nil {
			t.Fatal(err)
		}
	}
	for _, worker := range []string{"a", "b"} {
		if err := l.write(worker, 3, 1); err != nil {
			t.Fatal(err)
		}
	}
	balance, accepted, rising := l.summary()
	if l.overlaps() != 1 || rising || balance == accepted {
		t.Errorf("not noticed: %d overlaps, rising %v, balance %d after %d writes",
			l.overlaps(), rising, balance, accepted)
	}
}
