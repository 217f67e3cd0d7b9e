package redislock

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// ReplyError is an error the server answered. Nothing has happened then: every
// script of this package changes nothing before it can fail. One that was the answer
// to WAIT comes after a script that has not failed, and what that did is undone.
type ReplyError struct {
	// Cause is the client library's own error.
	Cause error
}

// Error implements error.
func (e *ReplyError) Error() string { return e.Cause.Error() }

// Unwrap returns the client library's own error.
func (e *ReplyError) Unwrap() error { return e.Cause }

// Code returns the first word of the answer, such as "READONLY". Redis before 7
// packs the errors of scripts into another: the inner one counts.
func (e *ReplyError) Code() string {
	text := e.Cause.Error()
	if _, inner, ok := strings.Cut(text, ": -"); ok {
		text = inner
	}
	code, _, _ := strings.Cut(text, " ")
	return strings.TrimPrefix(code, "-")
}

// class returns the driver's class of the error: unavailable if it may pass by
// itself, refused if not.
func (e *ReplyError) class() error {
	switch e.Code() {
	case "OOM", "READONLY", "LOADING", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN", "NOREPLICAS", "MISCONF", "BUSY",
		"MOVED", "ASK", "CROSSSLOT", "UNBLOCKED", "UNKILLABLE", "NOSCRIPT":
		return driver.ErrUnavailable
	}
	if strings.Contains(e.Error(), "max number of clients reached") {
		return driver.ErrUnavailable
	}
	return driver.ErrRefused
}

// spoiled tells whether a call was refused because of a single one of its keys,
// whatever the others are: this user may not touch it, or it lies elsewhere.
// Redis looks at the keys before it runs anything.
func spoiled(err error) bool {
	reply, ok := errors.AsType[*ReplyError](err)
	return ok && (reply.Code() == "NOPERM" || reply.Code() == "CROSSSLOT")
}

// describe names the operation and puts an error into its class.
func describe(operation, name string, err error) error {
	if class := classOf(err); class != nil {
		return fmt.Errorf("redislock: %s %q: %w: %w", operation, name, class, err)
	}
	return fmt.Errorf("redislock: %s %q: %w", operation, name, err)
}

// classOf returns the class to add to err, nil if it has one or has none.
func classOf(err error) error {
	if errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable) {
		return nil
	}
	if reply, ok := errors.AsType[*ReplyError](err); ok {
		return reply.class()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return driver.ErrUnavailable
	}
	return nil
}

// notSent says that nothing happened because the context was over already.
func notSent(err error) error {
	return fmt.Errorf("redislock: %w: %w", driver.ErrUnavailable, err)
}

// isBroken tells whether a connection has ended under a call.
func isBroken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
