// Package demo shows what a lock promises, with real processes that are killed
// and paused, and checks at the end that the promises held.
//
// The program starts itself several times as workers. It keeps the locks in its
// own memory and serves them to the workers over a Unix socket (server.go,
// remote.go), so that nothing needs to be installed; or the workers use a Redis.
// It also keeps what the workers fight over (ledger.go).
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bedrock-go/bedrock/internal/child"
)

const (
	// leaseTTL is short, so that nobody has to wait long for a takeover.
	leaseTTL = 2 * time.Second
	// limit is the longest a demonstration takes, whatever goes wrong.
	limit = 30 * time.Second
)

// Options say how to demonstrate.
type Options struct {
	// Out gets the story.
	Out io.Writer
	// Executable and Args start a worker, which calls [Work].
	Executable string
	Args       []string
	// Backend is the URL of the locks; empty for the memory of this process.
	Backend string
}

// errBroken says that a promise was not kept.
var errBroken = errors.New("a promise was not kept")

// show is a running demonstration.
type show struct {
	opts    Options
	story   *story
	ledger  *ledger
	socket  string
	lock    string // the lock's name
	workers []*worker
	checks  []check
}

// check is a promise and whether it was kept.
type check struct {
	promise string
	kept    bool
	details string
}

func (s *show) check(kept bool, promise, details string, args ...any) {
	s.checks = append(s.checks, check{promise, kept, fmt.Sprintf(details, args...)})
}

// Run tells the story. It leaves no process behind, whatever happens, and fails
// when a promise was not kept.
func Run(ctx context.Context, opts Options) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := &show{opts: opts, story: newStory(opts.Out), ledger: newLedger(), lock: lockName(opts.Backend)}
	server, err := startServer(ctx, s.ledger)
	if err != nil {
		return err
	}
	defer server.close()
	s.socket = server.socket
	defer s.dismiss()
	s.story.prologue(opts.Backend)
	for _, act := range s.acts() {
		if err := act(ctx); err != nil {
			return s.explain(ctx, err)
		}
	}
	return s.printVerdict()
}

func (s *show) acts() []func(context.Context) error {
	acts := []func(context.Context) error{s.hire, s.share, s.kill}
	if child.CanFreeze {
		acts = append(acts, s.pauseHolder)
	}
	return acts
}

func (s *show) explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("demo: not done after %s: %w", limit, err)
	}
	return fmt.Errorf("demo: %w", err)
}

// hire starts the workers.
func (s *show) hire(ctx context.Context) error {
	s.story.title("Three worker processes want to raise one balance")
	for _, name := range []string{"A", "B", "C"} {
		w, err := s.start(ctx, name)
		if err != nil {
			return fmt.Errorf("start worker %s: %w", name, err)
		}
		s.workers = append(s.workers, w)
		s.story.tellLine("worker %s is process %d", name, w.process.Pid())
	}
	return nil
}

// dismiss ends all workers, also killed and paused ones.
func (s *show) dismiss() {
	for _, w := range s.workers {
		w.dismiss()
	}
}

// printVerdict prints which promises were kept.
func (s *show) printVerdict() error {
	balance, accepted, rising := s.ledger.summary()
	s.check(balance == accepted, "no update was lost", "%d writes were accepted, and the balance is %d",
		accepted, balance)
	s.check(rising, "tokens only rise", "every grant had a higher token than all before it")
	s.story.title("Did the lock keep its promises?")
	kept := true
	for _, c := range s.checks {
		s.story.tellCheck(c)
		kept = kept && c.kept
	}
	if !kept {
		return errBroken
	}
	return nil
}
