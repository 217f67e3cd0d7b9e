package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/lock"
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
answer then.`,
		Example: "  bedrock latch await import/42 --timeout 10m && ./report.sh",
		Args:    wants("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			flags.limited = c.Flags().Changed("timeout")
			if flags.timeout < 0 {
				return &exitError{exitUsage, errors.New("--timeout cannot be negative")}
			}
			session, err := sys.open(lock.Options{})
			if err != nil {
				return err
			}
			defer closeSession(session)
			if err := flags.awaitOpen(c.Context(), latch.New(session.Client, args[0], nil)); err != nil {
				return fromBackend(err)
			}
			return sys.printLatch(latchView{Name: args[0]})
		},
	}
	c.Flags().DurationVar(&flags.timeout, "timeout", 0, "longest wait; 0 for none (default no limit)")
	return c
}

// awaitOpen waits for as long as it may. When that is over it looks once more, which tells how much is left.
func (f *awaitFlags) awaitOpen(ctx context.Context, l *latch.Latch) error {
	bounded := ctx
	if f.limited {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	err := l.Await(bounded)
	if err == nil || bounded.Err() == nil || ctx.Err() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	left, err := l.Count(ctx)
	if err != nil || left == 0 {
		return err
	}
	return &exitError{exitHeld, fmt.Errorf("latch %q is not open: %d are left", l.Name(), left)}
}
