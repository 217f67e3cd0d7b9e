package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

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
	// Logger gets the audit trail and failures. Default: silent.
	Logger *slog.Logger
	// Metrics answers /metrics.
	Metrics http.Handler
	// LockObserver is told what becomes of the locks. Default: nobody is.
	LockObserver LockObserver
	// Console answers everything else. It asks for viewers, and for operators where a
	// request changes something.
	Console http.Handler
}

// Limits protects a server from its clients. Zero fields mean the defaults.
type Limits struct {
	// Body bounds a request, in bytes. Default 2 MiB.
	Body int
	// BodyTime bounds how long a request may take to arrive. Default 30 s.
	BodyTime time.Duration
	// Rate is how many requests a second one client may make for long. A client is a
	// token, or an address where there are none. Default 50,000; -1: no limit.
	Rate int
	// Burst is how many it may make at once. Default: one second's worth.
	Burst int
	// Requests bounds the calls under way. Default 10,000.
	Requests int
	// Streams bounds those who watch and listen. Default 10,000.
	Streams int
	// StreamsEach bounds those of one client. Default half of Streams.
	StreamsEach int
	// Wait is how long a call waits for an outcome or a lock before it answers that
	// it is still waiting. Default 1 min.
	Wait time.Duration
	// Slow is how long one message of a stream may take to be taken by a client, and the
	// answer to a call after the longest a call may take. Default 10 s.
	Slow time.Duration
}

func (l *Limits) withDefaults() Limits {
	var r Limits
	if l != nil {
		r = *l
	}
	r.Body = orDefault(r.Body, 2<<20)
	r.BodyTime = orDefault(r.BodyTime, 30*time.Second)
	r.Rate = orDefault(r.Rate, 50_000)
	r.Burst = orDefault(r.Burst, max(r.Rate, 1))
	r.Requests = orDefault(r.Requests, 10_000)
	r.Streams = orDefault(r.Streams, 10_000)
	r.StreamsEach = orDefault(r.StreamsEach, max(r.Streams/2, 1))
	r.Wait = orDefault(r.Wait, time.Minute)
	r.Slow = orDefault(r.Slow, 10*time.Second)
	return r
}

func orDefault[T int | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

func (l *Limits) check() error {
	for _, f := range []struct {
		name  string
		value int64
		least int64
	}{
		{"Body", int64(l.Body), 1 << 10},
		{"BodyTime", int64(l.BodyTime), int64(time.Millisecond)},
		{"Rate", int64(l.Rate), -1},
		{"Burst", int64(l.Burst), 1},
		{"Requests", int64(l.Requests), 1},
		{"Streams", int64(l.Streams), 1},
		{"StreamsEach", int64(l.StreamsEach), 1},
		{"Wait", int64(l.Wait), int64(time.Millisecond)},
		{"Slow", int64(l.Slow), int64(time.Millisecond)},
	} {
		if f.value < f.least {
			return fmt.Errorf("server: limit %s is %d, the least is %d", f.name, f.value, f.least)
		}
	}
	return nil
}

func (c *Config) check() error {
	if c.Coordinator == nil && c.Locks == nil {
		return errors.New("server: neither a coordinator nor a store of locks")
	}
	return nil
}
