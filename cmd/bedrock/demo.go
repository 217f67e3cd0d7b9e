package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/cmd/bedrock/demo"
	"github.com/bedrock-go/bedrock/cmd/bedrock/demo/transfer"
	"github.com/bedrock-go/bedrock/internal/lockurl"
)

// demoWorker is the hidden command by which the demonstration starts its workers.
const demoWorker = "demo-worker"

func newDemo(sys *system) *cobra.Command {
	var redis string
	c := &cobra.Command{
		Use:   "demo",
		Short: "See what a lock promises: worker processes, a kill, a takeover, a late writer refused",
		Long: `Show in about ten seconds what a lock promises, with real processes: three workers
share a lock, one is killed while it holds it and another takes over, and one is
paused, comes back too late, and is refused by its token. At the end the promises
are checked; the exit code is 1 if one was not kept.

Nothing needs to be installed: this program keeps the locks itself. With --redis
the workers use yours.`,
		Example: "  bedrock demo\n  bedrock demo --redis redis://localhost:6379\n  bedrock demo transfer",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if redis != "" {
				if err := checkShared(redis); err != nil {
					return &exitError{exitUsage, err}
				}
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("demo: %w", err)
			}
			return demo.Run(c.Context(), demo.Options{
				Out: sys.stdout, Executable: self, Args: []string{demoWorker}, Backend: redis,
			})
		},
	}
	c.Flags().StringVar(&redis, "redis", "", "URL of a Redis to use instead of this program's memory")
	c.AddCommand(newDemoTransfer(sys))
	return c
}

func newDemoTransfer(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:   "transfer",
		Short: "See what a transaction promises: transfers between banks, one fails half-way, one is interrupted",
		Long: `Show in a second what a transaction promises: money goes from one bank to another; one
transfer fails half-way and is compensated, and one is interrupted by a coordinator that
stops, and finished by another. At the end the promises are checked; the exit code is 1
if one was not kept.

Nothing needs to be installed: the transactions are in a SQLite file, removed at the end.`,
		Example: "  bedrock demo transfer",
		Args:    noArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return transfer.Run(c.Context(), sys.stdout) },
	}
}

// checkShared refuses a backend that the workers could not share.
func checkShared(url string) error {
	location, err := lockurl.Parse(url)
	if err == nil && location.Redis() == nil {
		return errors.New("demo: --redis wants a Redis; leave it out to need none")
	}
	return err
}

func newDemoWorker(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:    demoWorker,
		Hidden: true,
		Args:   noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return demo.Work(c.Context(), sys.getenv, sys.stdin, sys.stdout)
		},
	}
}
