package redisconn

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/input"
)

// Conn is what Bedrock needs from a Redis client. The packages goredis and
// rueidis wrap the two usual ones; any other client can be wrapped the same way.
//
// Every call is tried once: redirections (MOVED, ASK) are followed, a script the
// server does not know is sent in full, and nothing else is repeated: after a
// repetition nobody could tell what the first try has done. A call returns soon after
// its context ends, also when the server does not answer; one that then goes on is an
// [*UnderwayError]. Keys and args are not kept after the call unless the context ended
// it, and are never changed by the caller.
//
// An error the server answered is a [*ReplyError]. Others may be marked with what they
// leave behind, see [Mark]; those of the network are returned as they are.
type Conn interface {
	// Eval runs a script on the master that owns keys. In a cluster, keys of several slots
	// are an error.
	Eval(ctx context.Context, s *Script, keys, args []string) (Reply, error)
	// Pipeline makes several calls, in one pipeline per server, and returns a result
	// for each.
	Pipeline(ctx context.Context, calls []Call) []Result
	// EvalWait runs a script and then WAIT on the very same connection: on any
	// other WAIT tells nothing about the script. It returns how many replicas
	// have what the script wrote. If only WAIT has failed, the reply of the script
	// is returned beside the error.
	EvalWait(ctx context.Context, call Call, replicas int, timeout time.Duration) (Reply, int, error)

	// Cluster reports whether names are spread over slots.
	Cluster() bool
	// Masters returns the servers that may be written to: the only one, or all masters
	// of a cluster.
	Masters(ctx context.Context) ([]Node, error)
	// Owner returns an id of the master that owns key, as Listen takes it. With
	// again, what was known before has proved wrong.
	Owner(ctx context.Context, key string, again bool) (string, error)
	// Listen opens a connection for subscriptions: to the given master, or to
	// any server when node is empty.
	Listen(ctx context.Context, node string, sink Sink) (Listener, error)
}

// Scattered may be implemented by a [Conn] that can turn out to be made of a client of
// servers which know nothing of one another. Which of them has a key changes when one
// is away; so locks and transactions are not kept there, and the error says so.
type Scattered interface {
	Scattered() error
}

// Doubter may be implemented by a [Conn] that looks for connections that have died without a
// word when a call got no answer. Who makes calls over it for callers that leave before these
// calls end says so, and the next call, which may follow at once, is not sent the same way.
type Doubter interface {
	// Doubt says that a call for a key has begun then, and how it has ended for its caller.
	Doubt(began time.Time, err error, key string)
}

// CheckKeeps returns why nothing that must last can be kept over conn, if that is so.
func CheckKeeps(conn Conn) error {
	if conn == nil {
		return &input.Error{Field: "conn", Problem: "is nil"}
	}
	if c, ok := conn.(Scattered); ok {
		return c.Scattered()
	}
	return nil
}

// Call is one run of a script, or one command. Its keys are in one slot.
type Call struct {
	// Script is run, or Command where there is no script.
	Script  *Script
	Command string

	Keys, Args []string
}

// Result is what came of a [Call].
type Result struct {
	Reply Reply
	Err   error
}

// Node is one master.
type Node interface {
	// Addr is the server's address.
	Addr() string
	// Do runs a command.
	Do(ctx context.Context, args ...string) (Reply, error)
}

// Listener is a connection for subscriptions. Subscribe and Unsubscribe send
// the request and may return before it is confirmed.
type Listener interface {
	Subscribe(ctx context.Context, channel string, sharded bool) error
	Unsubscribe(ctx context.Context, channel string, sharded bool) error
	// Close ends the connection and returns when the sink is told nothing more
	// but, at most, Broken.
	Close()
}

// Sink is told what happens on a [Listener], one call after the other. Its
// methods do not block.
type Sink interface {
	// Subscribed is called when the server has confirmed a subscription.
	Subscribed(channel string)
	// Unsubscribed is called when a subscription has ended, by request or
	// because the channel's slot has moved.
	Unsubscribed(channel string)
	// Message is called for every message, with its text.
	Message(channel, text string)
	// Broken is called once when the connection has ended. It must not be
	// called from within Subscribe, Unsubscribe or Close.
	Broken(err error)
}
