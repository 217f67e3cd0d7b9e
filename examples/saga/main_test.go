package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	const want = `2 lamps for 60: committed
	8 lamps and 40 in the bank
3 lamps for 9000: rolled-back
	because pay was refused: there is not enough
	8 lamps and 40 in the bank
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
