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
//   - msg: delay, check (target, after, policy) and deliver; a receiver has id, to or
//     topic, payload and policy
//   - policy: timeout, backoff, maxBackoff, attempts, then, hook
//
// Durations are written 30s or 1m30s. A payload is any value, and goes out as JSON;
// payloadBytes in its place is base64, and goes out as its bytes. In a file of JSON it is nobody's
// business, and goes out as it is written; one in YAML has to be translated, so that a name given
// twice in it, 1e400, or what is nested deeper than 100 times is refused. Without after, a step follows the one
// before it, and TCC branches are tried at once. Aliases, merge keys, several
// documents, unknown fields and fields given twice are refused.
package deffile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

// Error is one mistake in a file.
type Error struct {
	File string
	Line int // from 1; 0: the file as a whole
	// Field is where it is, in the file's own words, such as steps[1].compensate; empty: the
	// file as a whole.
	Field   string
	Problem string
}

func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&text, ":%d", e.Line)
	}
	if e.Field != "" {
		text.WriteString(": " + e.Field)
	}
	return text.String() + ": " + e.Problem
}

// Unwrap is the mistake without the file.
func (e *Error) Unwrap() error {
	return &input.Error{Field: cmp.Or(e.Field, e.File), Problem: e.Problem}
}

// File is a file that was read.
type File struct {
	// Definition is the transaction it describes.
	Definition txn.Definition

	parser *parser
}

// Read reads one transaction, and leaves what it asks for to [File.Check], or to a
// coordinator. The name is the file's, for errors: each is an *Error, and there may be
// several, joined.
func Read(name string, data []byte) (*File, error) { return readBy((*parser).definition, name, data) }

// ReadParts reads what joins a transaction that is open: its id, and branches or deliver, as they
// are in a file. The definition has these, and the mode in whose words they are.
func ReadParts(name string, data []byte) (*File, error) { return readBy((*parser).joining, name, data) }

func readBy(read func(*parser, *yaml.Node) txn.Definition, name string, data []byte) (*File, error) {
	p := &parser{file: name, byID: make(map[string][]*object), payloads: make(map[*yaml.Node][]byte)}
	f := &File{parser: p}
	if root := p.read(data); root != nil {
		f.Definition = read(p, root)
	}
	if err := p.mistakes.err(); err != nil {
		return nil, err
	}
	return f, nil
}

// Parse reads one transaction like [Read], and checks it.
func Parse(name string, data []byte) (txn.Definition, error) {
	f, err := Read(name, data)
	if err == nil {
		err = f.Check()
	}
	if err != nil {
		return txn.Definition{}, err
	}
	return f.Definition, nil
}

// parser collects mistakes, and where things are.
type parser struct {
	file     string
	mode     string
	mistakes mistakes
	// whole is the file, and byID has the parts of it that are called so in the definition,
	// in the order of both: those of one ID are refused, each by its own line.
	whole *object
	byID  map[string][]*object
	// payloads have their text, where it is JSON's.
	payloads map[*yaml.Node][]byte
	parts    int // how many were read
	copied   int // bytes that parts have handed down to those in them
}

// addMistake keeps a mistake. The field is in the file's own words.
func (p *parser) addMistake(line int, field, format string, args ...any) {
	p.mistakes.add(&Error{File: p.file, Line: line, Field: field, Problem: fmt.Sprintf(format, args...)})
}

// mistakes are those of one file.
type mistakes []*Error

func (m *mistakes) add(wrong *Error) {
	if !m.full() {
		*m = append(*m, wrong)
	}
}

// full reports whether no more mistakes are told.
func (m *mistakes) full() bool { return len(*m) >= input.Most }

// err is all mistakes in the order of the file, or nil.
func (m *mistakes) err() error {
	slices.SortStableFunc(*m, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	all := make([]error, len(*m))
	for i, wrong := range *m {
		all[i] = wrong
	}
	return errors.Join(all...)
}
