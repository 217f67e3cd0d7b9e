package server

import (
	"errors"
	"log/slog"
	"net/http"

	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/txn"
)

// Config says what is served. What is nil is not there: its procedures answer that
// they are not implemented.
type Config struct {
	Coordinator txn.Coordinator
	Inspector   txn.Inspector
	Operator    txn.Operator
	Topics      txn.Topics
	// Locks is the store of locks.
	Locks lockdriver.Backend

	// Auth knows the clients. Nil lets everybody do everything.
	Auth *Tokens
	// Files are where Auth and the certificates come from; /healthz tells when one
	// cannot be used any more.
	Files *Files
	// Limits protects the server. Nil means the defaults.
	Limits *Limits
	// Logger gets the audit trail and failures. Default: [slog.Default]; a
	// [slog.DiscardHandler] is silent.
	Logger *slog.Logger
	// Metrics answers /metrics.
	Metrics http.Handler
	// LockObserver is told what becomes of the locks. Default: nobody is.
	LockObserver LockObserver
	// Console answers everything else. It asks for viewers, and for operators where a
	// request changes something.
	Console http.Handler
}

func (c *Config) check() error {
	if c.Coordinator == nil && c.Locks == nil {
		return errors.New("server: neither a coordinator nor a store of locks")
	}
	return nil
}
