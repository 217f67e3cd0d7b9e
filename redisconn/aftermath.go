package redisconn

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
)

// Aftermath is what an error of a [Conn] leaves behind.
type Aftermath int

const (
	// Unknown says that the request may have been carried out, or may be yet.
	Unknown Aftermath = iota
	// Failed says that the server has run the script or command, and it has failed. What
	// a script had written before it failed stays.
	Failed
	// Refused says that nothing has happened, and asking again will not help.
	Refused
	// Unavailable says that nothing has happened, and asking again may help.
	Unavailable
)

// Mark says what an error leaves behind, for errors that do not tell by themselves.
func Mark(after Aftermath, err error) error { return &markedError{err, after} }

// markedError reads like the error that it marks.
type markedError struct {
	error

	after Aftermath
}

func (e *markedError) Unwrap() error { return e.error }

// AftermathOf returns what an error of a [Conn] leaves behind. It is the one list of
// that: who keeps locks or transactions on Redis puts it into words of his own.
func AftermathOf(err error) Aftermath {
	if _, left := errors.AsType[*UnderwayError](err); left {
		return Unknown
	}
	if marked, ok := errors.AsType[*markedError](err); ok {
		return marked.after
	}
	if reply, ok := errors.AsType[*ReplyError](err); ok {
		return reply.aftermath()
	}
	if neverConnected(err) {
		return Unavailable
	}
	return Unknown
}

// neverConnected reports whether there was no connection yet, so that nothing was sent over it: over TLS there is none
// before both have agreed on it.
func neverConnected(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	if _, stranger := errors.AsType[*tls.CertificateVerificationError](err); stranger {
		return true
	}
	plain, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok && plain.Conn != nil // as it is only for the very first answer
}

// KeyRefused reports whether a call was refused because of a single one of its keys, whatever
// the others are: this user may not touch it, or it lies elsewhere. Redis looks at the keys
// before it runs anything.
func KeyRefused(err error) bool {
	reply, ok := errors.AsType[*ReplyError](err)
	return ok && (reply.code() == "CROSSSLOT" || reply.deniesKey() && reply.aftermath() == Refused)
}

// KeyForeign reports whether a call failed because its key holds data of another kind, or
// some that this user may not touch.
func KeyForeign(err error) bool {
	reply, ok := errors.AsType[*ReplyError](err)
	return ok && (reply.code() == "WRONGTYPE" || reply.deniesKey())
}

// deniesKey reports whether this user may not touch a key; a command that he may not run is
// told by the same code.
func (e *ReplyError) deniesKey() bool {
	return e.code() == "NOPERM" && strings.Contains(e.Error(), " key")
}

// UserRefused reports whether a server does not take the user for who he says he is. That
// says nothing of what the server can do.
func UserRefused(err error) bool {
	reply, ok := errors.AsType[*ReplyError](err)
	return ok && (reply.code() == "NOAUTH" || reply.code() == "WRONGPASS")
}

// aftermath goes by the code of the answer. All but the last are given before a script
// has run, or has written anything.
func (e *ReplyError) aftermath() Aftermath {
	switch e.code() {
	case "OOM", "READONLY", "LOADING", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN", "NOREPLICAS", "MISCONF", "BUSY",
		"UNBLOCKED", "UNKILLABLE", // the server was at work, or changed its part
		"MOVED", "ASK", "CROSSSLOT", "NOSCRIPT": // another server has it, or this one does not know it
		return Unavailable
	case "NOAUTH", "WRONGPASS":
		return Refused
	case "NOPERM":
		if strings.Contains(e.Error(), "failure in script") { // a command of it, after others perhaps
			return Failed
		}
		return Refused
	}
	if strings.HasPrefix(e.text(), "ERR max number of clients ") { // in a cluster: "+ cluster connections reached"
		return Unavailable
	}
	return Failed
}
