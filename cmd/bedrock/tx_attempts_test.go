package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// TestEqualAttemptsAreOneLine: what was tried 351 times is told in one line, which says
// how often and until when.
func TestEqualAttemptsAreOneLine(t *testing.T) {
	tx := tried(351)
	shown := printed(t, func(s *system) error { return s.printTransaction(tx) })
	if !strings.Contains(shown, "2s…8m2s  two     action     1    failed ×351") || strings.Count(shown, "failed") != 1 {
		t.Errorf("shown:\n%s", shown)
	}
	asJSON := printed(t, func(s *system) error {
		s.output = formatJSON
		return s.printTransaction(tx)
	})
	if !strings.Contains(asJSON, `"count": 351`) || !strings.Contains(asJSON, `"until": "2026-01-01T00:08:02Z"`) {
		t.Errorf("as JSON:\n%s", asJSON)
	}
}

// TestWatchTellsOfEveryMore: an attempt that becomes part of an entry is a line for
// whoever watches; an entry that has not changed is none.
func TestWatchTellsOfEveryMore(t *testing.T) {
	shown := printed(t, func(s *system) error {
		var seen txSeen
		for _, n := range []int{1, 2, 2, 5} {
			if err := s.printChange(&seen, tried(n)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, line := range []string{"1  failed  ", "failed ×2  ", "failed ×5  "} {
		if strings.Count(shown, line) != 1 {
			t.Errorf("%q is there %d times in\n%s", line, strings.Count(shown, line), shown)
		}
	}
}

// tried is a transaction whose second branch has failed so often.
func tried(n int) *txn.Transaction {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := txn.Attempt{
		Branch: "two", Op: "action", Number: 1, At: began.Add(2 * time.Second), Answer: "failed", Excerpt: "broken",
		By: "here",
	}
	if n > 1 {
		a.Count, a.Until = n, began.Add(8*time.Minute+2*time.Second)
	}
	tx := &txn.Transaction{Status: txn.Running, Created: began, Attempts: []txn.Attempt{a}}
	tx.ID, tx.Mode = "order-1", "saga"
	return tx
}

// printed is what a function prints.
func printed(t *testing.T, show func(*system) error) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := show(&system{stdout: out, output: formatTable}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
