// Package trial runs tests whose failure is what one wants to see: it shows that an
// assertion, or a suite, can fail.
package trial

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Failures runs a test in a goroutine of its own and returns what it has complained
// of. What it does not complain with goes to t.
func Failures(t testing.TB, test func(testing.TB)) []string {
	t.Helper()
	p := &probe{TB: t}
	done := make(chan struct{})
	go func() { // FailNow ends the goroutine
		defer close(done)
		defer p.cleanUp()
		test(p)
	}()
	<-done
	return p.failures
}

// probe keeps failures to itself.
type probe struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (p *probe) cleanUp() {
	for _, fn := range slices.Backward(p.cleanups) {
		fn()
	}
}

func (p *probe) Helper() {}

func (p *probe) Cleanup(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanups = append(p.cleanups, fn)
}

func (p *probe) Failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.failures) > 0
}

func (p *probe) Error(args ...any) { p.Errorf("%s", strings.TrimSuffix(fmt.Sprintln(args...), "\n")) }

func (p *probe) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = append(p.failures, fmt.Sprintf(format, args...))
}

func (p *probe) Fatal(args ...any) { p.Fatalf("%s", strings.TrimSuffix(fmt.Sprintln(args...), "\n")) }

func (p *probe) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	runtime.Goexit()
}
