package locktest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// checkResidue fails the behaviour if it left anything in the store. Grants made
// past the front may run out first.
func (e *env) checkResidue() {
	e.Helper()
	look := e.server.Residue
	if look == nil {
		look = e.lookForLocks()
	}
	if look == nil {
		return
	}
	var left []string
	pause := 5 * time.Millisecond // which grows: what is there for seconds is not worth a look each time
	for end := time.Now().Add(e.long + cleanUp); time.Now().Before(end); pause += pause / 2 {
		if left = e.ours(look()); len(left) == 0 {
			return
		}
		time.Sleep(min(pause, 100*time.Millisecond))
	}
	e.Errorf("left behind: %q", left)
}

// ours keeps what carries one of the behaviour's names.
func (e *env) ours(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.Contains(s, e.prefix) })
}

// lookForLocks lists residue with the means of a backend: held locks, and names
// that somebody still listens to.
func (e *env) lookForLocks() func() []string {
	b := e.server.Connect(e.TB)
	e.Cleanup(func() { _ = b.Close() })
	inspector, ok := b.(driver.Inspector)
	if !ok {
		return nil
	}
	return func() (left []string) {
		for name := range e.names {
			info, err := inspector.Inspect(e.background(), name)
			if err != nil && !errors.Is(err, driver.ErrUnsupported) {
				left = append(left, name+": "+err.Error())
			}
			if len(info.Holders) > 0 || info.Waiting > 0 {
				left = append(left, name)
			}
		}
		return left
	}
}
