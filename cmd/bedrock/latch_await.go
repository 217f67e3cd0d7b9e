package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/latch"
)

// awaitFlags are those of latch await.
type awaitFlags struct {
	timeout time.Duration
	limited bool // --timeout was given: 0 is for no wait at all
}

func newLatchAwait(sys *system) *cobra.Command {
	var flags awaitFlags
	c := &cobra.Command{
		Use:   "await NAME",
		Short: "Wait until a latch is open",
		Long: `Wait until the latch NAME is open: until its count is zero, or it is dropped. One that
is not there is open.

If it is not open within --timeout, the exit code is 75; it is 69 if the backend did not
answer then, which --timeout 0 gives 2 s. It is 130 when a signal ends the wait, SIGTERM
as well as SIGINT.`,
		Example: "  bedrock latch await import/42 --timeout 10m && ./report.sh",
		Args:    wants("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			flags.limited = c.Flags().Changed("timeout")
			if flags.timeout < 0 {
				return &exitError{exitUsage, errors.New("--timeout cannot be negative")}
			}
			return sys.latchAwait(c.Context(), args[0], &flags)
		},
	}
	c.Flags().DurationVar(&flags.timeout, "timeout", 0, "longest wait; 0 for none (default no limit)")
	return c
}

// latchAwait waits for a latch, and says that it is open.
func (s *system) latchAwait(ctx context.Context, name string, flags *awaitFlags) error {
	if err := s.refuseSeveral(); err != nil {
		return err
	}
	session, err := s.open(lock.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = closeWithin(session, lostLimit) }() // there is nothing to give back
	if err := flags.awaitOpen(ctx, latch.New(session.Client, name, nil)); err != nil {
		return fromBackend(err)
	}
	return s.printLatch(latchView{Name: name})
}

// awaitOpen waits for as long as it may, and for one answer a little longer if it is not known then what is left: a
// backend that has not answered is no closed latch.
func (f *awaitFlags) awaitOpen(ctx context.Context, l *latch.Latch) error {
	if !f.limited {
		return l.Await(ctx)
	}
	if f.timeout == 0 {
		return lookOnce(ctx, l, answerLimit)
	}
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	err := l.Await(bounded)
	closed, known := errors.AsType[*latch.NotOpenError](err)
	switch {
	case err == nil || bounded.Err() == nil || ctx.Err() != nil:
		return err
	case known:
		return notOpen(l, closed.Left)
	case errors.Is(err, driver.ErrUnavailable): // a try was told so: another one need not be
		return err
	}
	err = lookOnce(ctx, l, answerGrace)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, driver.ErrUnavailable) {
		return waitedInVain(l, time.Since(began)) // the look knows of its own time only
	}
	return err
}

func waitedInVain(l *latch.Latch, waited time.Duration) error {
	waited = waited.Round(time.Millisecond)
	return fmt.Errorf("latch %q: await: waited %s: %w", l.Name(), waited, context.DeadlineExceeded)
}

// lookOnce reports whether the latch is open now.
func lookOnce(ctx context.Context, l *latch.Latch, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	left, err := l.Count(ctx)
	if err != nil || left == 0 {
		return err
	}
	return notOpen(l, left)
}

func notOpen(l *latch.Latch, left int) error {
	are := "are"
	if left == 1 {
		are = "is"
	}
	return &exitError{exitHeld, fmt.Errorf("latch %q is not open: %d %s left", l.Name(), left, are)}
}
