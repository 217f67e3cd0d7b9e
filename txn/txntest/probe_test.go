package txntest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// probe is a test whose failure is what we want to see.
type probe struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	cleanups []func()
}

// prove runs one behaviour and returns how it failed.
func prove(t testing.TB, b behaviour, open func(testing.TB) driver.Store) []string {
	t.Helper()
	p := &probe{TB: t}
	done := make(chan struct{})
	go func() { // FailNow ends the goroutine
		defer close(done)
		defer p.cleanUp()
		b.run(newEnv(p, open))
	}()
	<-done
	return p.failures
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

func (p *probe) Error(args ...any) { p.Errorf("%s", fmt.Sprint(args...)) }

func (p *probe) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = append(p.failures, fmt.Sprintf(format, args...))
}

func (p *probe) Fatal(args ...any) { p.Fatalf("%s", fmt.Sprint(args...)) }

func (p *probe) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	runtime.Goexit()
}
