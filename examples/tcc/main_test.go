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
	const want = `first trip: committed
	seats: 1 booked, 1 free, rooms: 1 booked, 0 free
second trip: transaction second was rolled back: try rooms: no rooms left
	seats: 1 booked, 1 free, rooms: 1 booked, 0 free
third trip: transaction third was rolled back: not decided in time
	seats: 1 booked, 1 free, rooms: 1 booked, 0 free
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
