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
	const want = `order 1 is paid
	mail: order 1 is paid
order 2 cannot be paid
	producer: not accepted
	no mail
order 3 is paid, and then the coordinator is out of reach
	producer: not known whether the message will be sent; the check decides
	mail: order 3 is paid
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
