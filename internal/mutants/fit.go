package mutants

import (
	"os"
	"strings"
	"testing"
)

// CheckFit fails a test if a mutant no longer fits the code.
func CheckFit(t testing.TB, all []Mutant) {
	t.Helper()
	misfits, err := Misfits(t.Context(), all)
	if err != nil || len(misfits) > 0 {
		t.Errorf("%v\n%s", err, strings.Join(misfits, "\n"))
	}
}

// CheckTold fails a test if the table of mutants in a file lacks one.
func CheckTold(t testing.TB, file string, all []Mutant) {
	t.Helper()
	table, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if rows := Untold(string(table), all); len(rows) > 0 {
		t.Errorf("the table lacks:\n%s", strings.Join(rows, "\n"))
	}
}
