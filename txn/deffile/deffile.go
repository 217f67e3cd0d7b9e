// Package deffile reads transactions from files that people write, in YAML or JSON:
//
//	mode: saga
//	name: order
//	timeout: 1m
//	steps:
//	  - id: stock
//	    action: stock.deduct
//	    compensate: stock.restore
//	  - id: pay
//	    action: https://pay.example/charge
//	    compensate: https://pay.example/refund
//	    use: {reservation: stock.id}
//	    policy: {timeout: 5s, attempts: 3, then: park}
//	payload: {order: 42, amount: 10}
//
// The fields are those of packages saga, tcc and msg in their own words:
//
//   - all: mode, name, id, timeout, parallel, headers, payload
//   - saga: recovery and steps; a step has id, action, compensate, after, use,
//     payload, policy, or steps of its own, which makes it a nested saga
//   - tcc: branches; a branch has id, and try, confirm, cancel, or do and compensate,
//     or assured, or branches of its own; and after, use, payload, policy
//   - msg: delay, check (target, after, policy) and deliver; a receiver has id and to,
//     or topic; and payload, policy
//   - policy: timeout, backoff, maxBackoff, attempts, then, hook
//
// Durations are written 30s or 1m30s. A payload is any value, and goes out as JSON;
// one marked !!binary goes out as its bytes. Without after, a step follows the one
// before it, and TCC branches are tried at once. Aliases, merge keys, several
// documents, unknown fields and fields given twice are refused.
package deffile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/txn"
)

// Error is one mistake in a file.
type Error struct {
	File    string
	Line    int // from 1; 0: the file as a whole
	Problem string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Problem
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

// mostErrors is how many mistakes are reported at once.
const mostErrors = 10

// Parse reads one transaction and checks it like a coordinator with default
// limits, as far as that is possible without one. The name is the file's, for
// errors: each is an *Error, and there may be several, joined.
func Parse(name string, data []byte) (txn.Definition, error) {
	p := &parser{file: name, lines: make(map[string]int)}
	root := p.read(data)
	if root == nil {
		return txn.Definition{}, p.err()
	}
	d := p.definition(root)
	if err := p.err(); err != nil {
		return txn.Definition{}, err
	}
	p.check(&d)
	if err := p.err(); err != nil {
		return txn.Definition{}, err
	}
	return d, nil
}

// parser collects mistakes, and where things are.
type parser struct {
	file     string
	mistakes []*Error
	// lines has the line of every field by its path in the definition: timeout,
	// check.target, and for branches their ID and the field, such as
	// [pay].do.
	lines map[string]int
	parts int
}

// fail keeps a mistake.
func (p *parser) fail(line int, format string, args ...any) {
	if len(p.mistakes) < mostErrors {
		p.mistakes = append(p.mistakes, &Error{File: p.file, Line: line, Problem: fmt.Sprintf(format, args...)})
	}
}

// err is all mistakes in the order of the file, or nil.
func (p *parser) err() error {
	slices.SortStableFunc(p.mistakes, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	all := make([]error, len(p.mistakes))
	for i, m := range p.mistakes {
		all[i] = m
	}
	return errors.Join(all...)
}
