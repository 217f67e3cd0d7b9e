package main

import (
	"os"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

func TestMutantsNoLongerFit(t *testing.T) {
	misfits, err := mutants.Misfits(t.Context(), all())
	if err != nil || len(misfits) > 0 {
		t.Errorf("%v\n%s", err, strings.Join(misfits, "\n"))
	}
}

func TestTableMissesAMutant(t *testing.T) {
	table, err := os.ReadFile("../../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	if rows := mutants.Untold(string(table), all()); len(rows) > 0 {
		t.Errorf("the table lacks:\n%s", strings.Join(rows, "\n"))
	}
}
