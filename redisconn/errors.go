package redisconn

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/bedrock-go/bedrock/internal/underway"
)

// ReplyError is an error the server answered. Its [Aftermath] says whether the script
// has run; one that was the answer to WAIT comes after a script that has not failed.
type ReplyError struct {
	// Cause is the client library's own error.
	Cause error
}

// Error implements error.
func (e *ReplyError) Error() string { return e.Cause.Error() }

// Unwrap returns the client library's own error.
func (e *ReplyError) Unwrap() error { return e.Cause }

// code returns the first word of the answer, such as "READONLY". Redis before 7
// packs the errors of scripts into another: the inner one counts.
func (e *ReplyError) code() string {
	code, _, _ := strings.Cut(unpacked(e.text()), " ")
	return code
}

// text is the answer; some servers and libraries leave its mark before it.
func (e *ReplyError) text() string { return strings.TrimPrefix(e.Cause.Error(), "-") }

// unpacked returns the error of a command in a script, out of that of the script:
//
//	ERR Error running script (call to f_SHA): @user_script:1: @user_script: 1: -READONLY …
//
// It goes by the place of each piece, for names that stand in answers may hold anything.
func unpacked(text string) string {
	if !strings.HasPrefix(text, "ERR Error running script (call to ") {
		return text
	}
	pieces := strings.SplitN(text, ": ", 5)
	if len(pieces) < 5 || !strings.HasPrefix(pieces[1], "@") || !strings.HasPrefix(pieces[1], pieces[2]+":") {
		return text
	}
	if inner, ok := strings.CutPrefix(pieces[4], "-"); ok {
		return inner
	}
	return text
}

// UnderwayError is the error of a call that its caller has left behind, and that
// goes on in this process. Its outcome is unknown, whatever Err is. Err is why the
// caller has left; Ended is closed when nothing of the call is under way in this process
// any more. That must not take for ever, so a call needs a time limit of its own.
type UnderwayError = underway.Error

// isBroken reports whether a connection has ended under a call.
func isBroken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
