package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	const want = `order 42 was wanted by 2 services, and shipped 1 time
north has the lock on order 43, and is paused
south got it when the lease was over, and shipped
north wakes up: lost: its time is over
and if it does not look: the shelf has seen a higher token
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
