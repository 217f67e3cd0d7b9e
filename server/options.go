package server

import (
	"log/slog"

	"github.com/bedrock-go/bedrock/input"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
)

// Services are what is served. What is nil is not there: its procedures answer that they
// are not implemented. There has to be a coordinator or a store of locks.
type Services struct {
	Coordinator txn.Coordinator
	Inspector   txn.Inspector
	Operator    txn.Operator
	Topics      txn.Topics
	// Locks is the store of locks. It is the server's alone, and no lock.Client's besides: it can tell one of them what
	// was granted unasked.
	Locks lockdriver.Backend
}

func (s *Services) check() error {
	if s.Coordinator == nil && s.Locks == nil {
		return &input.Error{Field: "services", Problem: "there is neither a coordinator nor a store of locks"}
	}
	return nil
}

// Options adjusts a server. Zero fields mean the defaults.
type Options struct {
	// Tokens knows the clients. Default: everybody may do everything.
	Tokens *auth.Tokens
	// Files are where Tokens and the certificates come from; /healthz says when one
	// cannot be used any more. Default: none.
	Files *auth.Files
	// Limits protects the server. Default: those of [AllLimits].
	Limits *Limits
	// Logger gets the audit trail and failures. Default: [slog.Default]; a
	// [slog.DiscardHandler] is silent.
	Logger *slog.Logger
	// LockObserver is told what becomes of the locks. Default: nobody is.
	LockObserver LockObserver
	// Mounts are handlers beside the API, such as a console and metrics. Default: none.
	Mounts []Mount
}

func (o *Options) withDefaults() (*Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	limits := r.Limits.withDefaults()
	r.Limits = &limits
	if r.Logger == nil {
		r.Logger = slog.Default()
	}
	if r.LockObserver == nil {
		r.LockObserver = nobody{}
	}
	return &r, limits.check()
}
