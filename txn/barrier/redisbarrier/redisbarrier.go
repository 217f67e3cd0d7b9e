package redisbarrier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// ErrHalfDone is in the error of a call whose script has failed after it had
// written something. It will not be run again.
var ErrHalfDone = errors.New("script failed half-way and is not run again")

// Options tunes a Barrier. The zero value is the default.
type Options struct {
	// Prefix begins the keys of the marks. Defaults to "bedrock:barrier:".
	Prefix string
	// TTL lets marks expire this long after the last of their transaction was set. It
	// must be longer than any transaction lives, or late calls take effect twice.
	// Defaults to never: call Clean.
	TTL time.Duration
	// SkippedFunc is told of every call whose script was not run, and why. If it panics, the
	// call is answered all the same, and [slog.Default] is told. Defaults to nothing.
	SkippedFunc func(ctx context.Context, call txn.Call, v barrier.Verdict)
}

// Barrier lets each call of a coordinator take effect once, in the same script as
// its work. It may be used by many goroutines at once.
type Barrier struct {
	conn         redisconn.Conn
	opts         Options
	check, clean *redisconn.Script
}

// New returns a barrier over the Redis that holds the business data. The client
// wrapped in conn stays the caller's.
func New(conn redisconn.Conn, opts *Options) (*Barrier, error) {
	if conn == nil {
		return nil, wrongOption("conn", "is nil")
	}
	b := &Barrier{conn: conn, check: redisconn.NewScript(checkText), clean: redisconn.NewScript(cleanText)}
	if opts != nil {
		b.opts = *opts
	}
	if b.opts.Prefix == "" {
		b.opts.Prefix = "bedrock:barrier:"
	}
	if b.opts.SkippedFunc == nil {
		b.opts.SkippedFunc = func(context.Context, txn.Call, barrier.Verdict) {}
	}
	switch {
	case strings.ContainsAny(b.opts.Prefix, "{}"):
		return nil, wrongOption("prefix", "%q: must have no braces", b.opts.Prefix)
	case b.opts.TTL > 0 && b.opts.TTL < time.Second:
		return nil, wrongOption("ttl", "%v: want none or at least 1s", b.opts.TTL)
	}
	return b, nil
}

// wrongOption says what is wrong with an argument of New.
func wrongOption(field, problem string, args ...any) error {
	return fmt.Errorf("redisbarrier: %w", input.Errorf(field, problem, args...))
}

// Do runs the script of a call unless it must not run. A duplicate gets the first
// result; the verdict says why the script was skipped. The answer is meant for the
// coordinator as it is, see [barrier.Barrier.Do].
//
// The marks are kept beside the first key, in the same slot of a cluster. So all
// calls of one branch must have first keys with the same hash tag: the same key, or
// the same text in braces.
func (b *Barrier) Do(
	ctx context.Context, call txn.Call, s *Script, keys []string, args ...any,
) ([]byte, barrier.Verdict, error) {
	reply, err := b.run(ctx, call, s, keys, args)
	if err != nil {
		return nil, barrier.Undecided, fmt.Errorf("redisbarrier: %s: %w", name(call), err)
	}
	result, v, err := reply.forCoordinator(call)
	if reply.skipped() {
		b.reportSkipped(ctx, call, v)
	}
	return result, v, err
}

// reportSkipped tells of a call that was answered without its script. Were it left to panic, a
// repeated call would never be answered, however often it is made.
func (b *Barrier) reportSkipped(ctx context.Context, call txn.Call, v barrier.Verdict) {
	defer func() {
		if cause := recover(); cause != nil {
			slog.ErrorContext(ctx, "redisbarrier: SkippedFunc panicked", "transaction", call.Transaction,
				"panic", cause, "stack", string(debug.Stack()))
		}
	}()
	b.opts.SkippedFunc(ctx, call, v)
}

// Func makes a participant of a script; f says what to run it on.
func (b *Barrier) Func(s *Script, f func(call txn.Call) (keys []string, args []any, err error)) txn.Func {
	return func(ctx context.Context, call txn.Call) ([]byte, error) {
		keys, args, err := f(call)
		if err != nil {
			return nil, err
		}
		result, _, err := b.Do(ctx, call, s, keys, args...)
		return result, err
	}
}

// run sends the script and reads what came of it.
func (b *Barrier) run(ctx context.Context, call txn.Call, s *Script, keys []string, args []any) (reply, error) {
	if err := check(call); err != nil {
		return reply{}, err
	}
	marks, err := b.marks(call.Transaction, keys)
	if err != nil {
		return reply{}, err
	}
	back := ""
	if origin, ok := barrier.Origin(call.Op); ok {
		back = field(origin, call.Branch)
	}
	own, err := textsOf(args)
	if err != nil {
		return reply{}, err
	}
	argv := append([]string{
		field(call.Op, call.Branch), back, call.Op, strconv.FormatInt(call.Epoch, 10), strconv.Itoa(call.Attempt),
		b.lifetime(),
	}, own...)
	answer, err := b.eval(ctx, s.whole, append([]string{marks}, keys...), argv)
	if err != nil {
		return reply{}, err
	}
	return parse(answer)
}

// lifetime is that of marks, in milliseconds, as the scripts take it.
func (b *Barrier) lifetime() string { return strconv.FormatInt(b.opts.TTL.Milliseconds(), 10) }

// eval runs one of the scripts. Each of them may be run twice: that is what a barrier is
// for. Nobody else would repeat those of a message's producer.
func (b *Barrier) eval(ctx context.Context, s *redisconn.Script, keys, args []string) (redisconn.Reply, error) {
	return redisconn.RepeatHarmless(ctx, func() (redisconn.Reply, error) { return b.conn.Eval(ctx, s, keys, args) })
}

// check refuses calls that have no identity. The operation begins a field and a
// mark, and ends there with a colon.
func check(call txn.Call) error {
	switch {
	case call.Transaction == "":
		return errors.New("call has no transaction")
	case call.Op == "" || strings.Contains(call.Op, ":"):
		return fmt.Errorf("operation %q: want a word without colon", call.Op)
	case call.Op == "refused" || call.Op == "half" || call.Op == "check":
		return fmt.Errorf("operation %q is a word of the barrier's own", call.Op)
	}
	return nil
}

// name is how errors call a call.
func name(call txn.Call) string {
	return fmt.Sprintf("%s of branch %q of transaction %q", call.Op, call.Branch, call.Transaction)
}
