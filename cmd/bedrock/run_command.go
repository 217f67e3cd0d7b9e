package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/child"
	"github.com/bedrock-go/bedrock/lock"
)

// commandArgs wants NAME -- COMMAND, so that the command's flags are never taken for
// bedrock's.
func commandArgs(c *cobra.Command, args []string) error {
	_, words, _ := strings.Cut(c.CommandPath(), " ")
	switch dash := c.ArgsLenAtDash(); {
	case len(args) == 0:
		return fmt.Errorf("%s: NAME is missing", words)
	case dash != 1:
		return fmt.Errorf("%s: write NAME, then --, then the command: bedrock %[1]s NAME -- COMMAND [ARG…]", words)
	case len(args) == 1:
		return fmt.Errorf("%s: the command after -- is missing", words)
	}
	return nil
}

// runner runs a command while this process has a lock, and passes signals on to it.
type runner struct {
	sys   *system
	path  string
	args  []string
	grace time.Duration // between SIGTERM and SIGKILL when the lock is lost
	yield bool          // the command ends when somebody asks for the lock

	maxHold time.Duration // the command ends when it has run for so long; 0 for never

	ctx     context.Context //nolint:containedctx // it outlives the signals that would end the command's
	end     context.CancelFunc
	signals chan os.Signal

	unclear error // why it is not known that the lock was given back
}

// newRunner takes the signals until stop. They arrive by its channel from here on: the lease must outlive them, because
// the command decides what to do about them.
func (s *system) newRunner(ctx context.Context, path string, args []string, grace time.Duration) *runner {
	r := &runner{sys: s, path: path, args: args, grace: grace, signals: make(chan os.Signal, 16)}
	r.ctx, r.end = context.WithCancel(context.WithoutCancel(ctx))
	if forwarded := child.Forwarded(); len(forwarded) > 0 {
		signal.Notify(r.signals, forwarded...)
	}
	return r
}

func (r *runner) stop() {
	signal.Stop(r.signals)
	r.end()
}

// waitForTurn waits for what it is given, or for a signal that ends the program. After a second it says so.
func waitForTurn[T any](
	r *runner, wait func(context.Context) (T, error), sayWaiting func(context.Context),
) (turn T, err error) {
	done := make(chan struct{})
	long := time.NewTimer(silentFor)
	defer long.Stop()
	asking, enough := context.WithCancel(r.ctx)
	var saying sync.WaitGroup
	defer saying.Wait() // a line on the terminal is taken back before anything else is written
	defer enough()
	go func() {
		defer close(done)
		turn, err = wait(r.ctx)
	}()
	for {
		select {
		case <-done:
			return turn, err
		case <-long.C:
			saying.Go(func() { sayWaiting(asking) })
		case s := <-r.signals:
			if !child.Ends(s) {
				continue
			}
			r.end()
			<-done
			var none T
			return none, &exitError{code: child.Code(s)} // a lease got meanwhile is released when the client closes
		}
	}
}

// runUnder runs the command, gives the lock back, and turns what happened into
// the exit code.
func (r *runner) runUnder(lease *lock.Lease) (child.Result, error) {
	end, stop := r.untilEnd(lease)
	defer stop()
	result, startErr := r.command(lease).Run(end.Done(), r.signals)
	r.hearAgain(result.Signal)
	ctx, cancel := context.WithTimeout(r.ctx, closeLimit)
	defer cancel()
	err := lease.Unlock(ctx)
	r.noteRelease(lease.Name(), err)
	switch {
	case errors.Is(err, lock.ErrLost):
		return result, &exitError{exitLost, lostError(lease, result.Ended)}
	case startErr != nil:
		return result, &exitError{child.StartCode(startErr), startErr}
	}
	switch {
	case result.Ended && errors.Is(context.Cause(end), errOverdue):
		return result, r.overdueError(lease, err)
	case result.Ended:
		return result, &exitError{
			exitYielded, fmt.Errorf("%s: somebody asked for it", howItEnded(lease.Name(), err)),
		}
	case result.Code != 0:
		return result, &exitError{code: result.Code}
	}
	return result, nil
}

// hearAgain leaves a signal that came while the command was being ended to who waits for one next: it was for this
// program, too, which may be about to go on without the command.
func (r *runner) hearAgain(s os.Signal) {
	if s == nil {
		return
	}
	select {
	case r.signals <- s:
	default: // there are others
	}
}

// untilEnd returns what ends when the command has to: when the lock is lost, when it was held for as long as it may be,
// or is asked for where that counts.
func (r *runner) untilEnd(lease *lock.Lease) (context.Context, context.CancelFunc) {
	ctx, cancel := r.untilOverdue(lease)
	if r.yield {
		go func() {
			select {
			case <-lease.Asked():
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

func (r *runner) command(lease *lock.Lease) *child.Command {
	return &child.Command{
		Path: r.path, Args: r.args, Grace: r.grace, Foreground: isTerminal(r.sys.stdin),
		Stdin: r.sys.stdin, Stdout: r.sys.stdout, Stderr: r.sys.stderr,
		Env: append(os.Environ(),
			"BEDROCK_LOCK_NAME="+lease.Name(),
			"BEDROCK_LOCK_TOKEN="+strconv.FormatUint(lease.Token(), 10),
			"BEDROCK_LOCK_OWNER="+lease.Owner(),
		),
	}
}

// endLimit is how long the end may take. There is nothing to give back of a lock that was
// lost, and nobody to give it to where the backend does not answer; and whoever waits for the
// exit code is to know at once.
func endLimit(err error) time.Duration {
	e, ok := errors.AsType[*exitError](err)
	_, silent := errors.AsType[*silentError](err)
	if isLost(err) || silent || ok && e.err != nil && e.code == exitUnavailable { // not the command's own
		return lostLimit
	}
	return closeLimit
}

// isLost reports whether an error says that the lock was lost, and not how the command has ended.
func isLost(err error) bool {
	e, ok := errors.AsType[*exitError](err)
	return ok && e.err != nil && e.code == exitLost
}

func lostError(lease *lock.Lease, ended bool) error {
	then := "the command ended before that was known"
	if ended {
		then = "the command was ended"
	}
	cause := context.Cause(lease.Context())
	return fmt.Errorf("lock %q was lost while the command ran; %s (%w)", lease.Name(), then, cause)
}

// isTerminal reports whether the file is a terminal: a character device that is
// not the one that swallows everything.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
