package server

import (
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestAnEndIsToldForTwo: each grant ends once, of however many others it is told meanwhile; and not by a release that
// the store has done nothing about.
func TestAnEndIsToldForTwo(t *testing.T) {
	var e endings
	g := driver.Grant{Name: "a", Owner: "me", Token: 7}
	note := func(want bool) {
		t.Helper()
		if first := e.noteEnd(&g); first != want {
			t.Errorf("first: %t", first)
		}
	}
	note(true)
	note(false)
	e.forgetUndone(&g, driver.ErrLost)
	note(false)
	for i := range uint64(keptEndings) {
		e.noteEnd(&driver.Grant{Name: "a", Owner: "others", Token: i + 1})
	}
	note(false)
	e.forgetUndone(&g, driver.ErrUnavailable)
	note(true)
	for i := range uint64(2 * keptEndings) {
		e.noteEnd(&driver.Grant{Name: "a", Owner: "others", Token: i + keptEndings + 1})
	}
	if n := len(e.latest) + len(e.before); n > 2*keptEndings {
		t.Errorf("%d are kept", n)
	}
	note(true)
}
