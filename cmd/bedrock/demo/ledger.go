package demo

import (
	"fmt"
	"sync"
)

// ledger is the resource that the lock protects: a balance, and the highest token
// seen. That number is all that a resource needs to refuse a late writer.
type ledger struct {
	mu      sync.Mutex
	balance int
	highest uint64

	// What the demonstration checks at the end.
	inside   string // the worker between its read and its write
	overlap  int
	accepted int
	falling  bool // a grant had no higher token than the one before
}

func newLedger() *ledger { return &ledger{} }

// read begins a turn: it returns the balance to a worker that has just got the
// lock.
func (l *ledger) read(worker string, token uint64) (balance int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if token <= l.highest {
		l.falling = true
	}
	if err := l.guard(token); err != nil {
		return 0, err
	}
	if l.inside != "" {
		l.overlap++
	}
	l.inside = worker
	return l.balance, nil
}

// write ends a turn.
func (l *ledger) write(worker string, token uint64, balance int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.guard(token); err != nil {
		return err
	}
	if l.inside == worker {
		l.inside = ""
	}
	l.balance = balance
	l.accepted++
	return nil
}

// guard refuses a token lower than one seen before. l.mu is held.
func (l *ledger) guard(token uint64) error {
	if token < l.highest {
		return fmt.Errorf("token %d is older than %d", token, l.highest)
	}
	l.highest = token
	return nil
}

// gone says that a worker was killed or paused during its turn, and so is not
// inside as far as the next one is concerned.
func (l *ledger) gone(worker string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inside == worker {
		l.inside = ""
	}
}

func (l *ledger) overlaps() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.overlap
}

func (l *ledger) summary() (balance, accepted int, rising bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.balance, l.accepted, !l.falling
}
