package demo

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// reply is what the server answers.
type reply[T any] struct {
	Value T          `json:"value"`
	Err   *wireError `json:"err,omitempty"`
}

// wireError carries an error's class across the socket.
type wireError struct {
	Class string        `json:"class"`
	Owner string        `json:"owner,omitempty"`
	TTL   time.Duration `json:"ttl,omitempty"`
	Text  string        `json:"text"`
}

const (
	classHeld    = "held"
	classLost    = "lost"
	classRefused = "refused"
)

func toWire(err error) *wireError {
	if err == nil {
		return nil
	}
	if held, ok := errors.AsType[*driver.HeldError](err); ok {
		return &wireError{Class: classHeld, Owner: held.Owner, TTL: held.TTL}
	}
	if errors.Is(err, driver.ErrLost) {
		return &wireError{Class: classLost}
	}
	return &wireError{Class: classRefused, Text: err.Error()}
}

func (e *wireError) err() error {
	switch {
	case e == nil:
		return nil
	case e.Class == classHeld:
		return &driver.HeldError{Owner: e.Owner, TTL: e.TTL}
	case e.Class == classLost:
		return driver.ErrLost
	}
	return &refusal{e.Text}
}

// refusal is an answer that says no.
type refusal struct{ text string }

// Error implements error.
func (r *refusal) Error() string { return "refused: " + r.text }

// Is reports whether target is [driver.ErrRefused].
func (*refusal) Is(target error) bool { return target == driver.ErrRefused }
