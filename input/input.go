// Package input is how Bedrock refuses what it is given: one error, the same for locks,
// transactions, options and requests over the network, that names the field and the rule.
package input

import (
	"errors"
	"fmt"
	"strings"
)

// ErrInvalid says that an argument is not acceptable; nothing happened. The error is an
// [*Error].
var ErrInvalid = errors.New("invalid")

// Error names an argument that is not acceptable. It matches [ErrInvalid].
type Error struct {
	// Field is the argument or option, or a path such as branches[2].after.
	Field string
	// Problem says what is wrong, and names the limit or the rule.
	Problem string
}

// Errorf returns the error for a field, with a problem that is formatted as by [fmt.Sprintf].
func Errorf(field, format string, args ...any) *Error {
	return &Error{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *Error) Error() string { return e.Field + ": " + e.Problem }

// Is reports whether target is [ErrInvalid].
func (e *Error) Is(target error) bool { return target == ErrInvalid }

// Most is how many mistakes are told at once.
const Most = 10

// Join makes one error of several mistakes, the first [Most] of them, or nil of none.
func Join(all []*Error) error {
	all = all[:min(len(all), Most)]
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	default:
		return several(all)
	}
}

// several are mistakes told at once, in one line.
type several []*Error

// Error implements error.
func (s several) Error() string {
	text := make([]string, len(s))
	for i, one := range s {
		text[i] = one.Error()
	}
	return strings.Join(text, "; ")
}

// Unwrap gives the mistakes, the first of which is the one that errors.As finds.
func (s several) Unwrap() []error {
	all := make([]error, len(s))
	for i, one := range s {
		all[i] = one
	}
	return all
}

// All lists what is wrong: an error may join several mistakes.
func All(err error) []*Error {
	if wrong, ok := err.(*Error); ok { //nolint:errorlint // the walk is what this function is
		return []*Error{wrong}
	}
	switch e := err.(type) { //nolint:errorlint // the same
	case interface{ Unwrap() error }:
		return All(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*Error
		for _, one := range e.Unwrap() {
			all = append(all, All(one)...)
		}
		return all
	default:
		return nil
	}
}
