package redislock

import (
	"context"
	"time"
)

// Conn is what redislock needs from a Redis client. The packages goredis and
// rueidis wrap the two usual ones; any other client can be wrapped the same way.
//
// Every call is tried once: redirections (MOVED, ASK) are followed, a script the
// server does not know is sent in full, and nothing else is repeated. A call
// returns soon after its context ends, also when the server does not answer.
// Keys and args are not kept after the call unless the context ended it, and
// are never changed by the caller.
//
// An error the server answered is a [*ReplyError]. Errors that belong to a
// class of package driver may be wrapped in it; those of the network are
// returned as they are.
type Conn interface {
	// Eval runs a script on the master that owns keys.
	Eval(ctx context.Context, s *Script, keys, args []string) (Reply, error)
	// EvalMany runs a script once per call, pipelined per server, and returns a
	// result for each. The keys of one call are in one slot.
	EvalMany(ctx context.Context, s *Script, calls []Call) []Result
	// EvalWait runs a script and then WAIT on the very same connection: on any
	// other WAIT tells nothing about the script. It returns how many replicas
	// have what the script wrote. If only WAIT has failed, the reply of the script
	// is returned beside the error.
	EvalWait(ctx context.Context, s *Script, call Call, replicas int, timeout time.Duration) (Reply, int, error)
	// EachMaster calls fn for every master in turn until it returns an error.
	EachMaster(ctx context.Context, fn func(Node) error) error

	// Cluster tells whether names are spread over slots.
	Cluster() bool
	// Owner returns an id of the master that owns key, as Listen takes it. With
	// again, what was known before has proved wrong.
	Owner(ctx context.Context, key string, again bool) (string, error)
	// Listen opens a connection for subscriptions: to the given master, or to
	// any server when node is empty.
	Listen(ctx context.Context, node string, sink Sink) (Listener, error)
}

// Unusable may be implemented by a [Conn] that can turn out to be made of a client
// that keeps no locks. [New] asks it, and returns the error.
type Unusable interface {
	Unusable() error
}

// Call is the keys and arguments of one run of a script.
type Call struct {
	Keys, Args []string
}

// Result is what came of a [Call].
type Result struct {
	Reply Reply
	Err   error
}

// Reply is what a server answered. It is passed by value, so that the usual
// answer, a number, costs no memory.
type Reply struct {
	Int   int64
	Str   string
	Items []Reply // of an array; keys and values in turn of a map
	Nil   bool
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
	// Message is called for every message.
	Message(channel string)
	// Broken is called once when the connection has ended. It must not be
	// called from within Subscribe, Unsubscribe or Close.
	Broken(err error)
}
