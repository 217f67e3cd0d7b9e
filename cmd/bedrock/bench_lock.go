package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/lockbench"
	"github.com/bedrock-go/bedrock/lock"
)

// The limits of a measurement: it must not bring down what it measures.
const (
	benchClientsMost    = 256
	benchGoroutinesMost = 4096
	benchNamesMost      = 10000
	benchDurationMost   = 10 * time.Minute
)

// benchFlags are those of bench lock.
type benchFlags struct {
	clients, goroutines, names int
	duration                   time.Duration
	fair                       bool
}

func newBenchLock(sys *system) *cobra.Command {
	var flags benchFlags
	c := &cobra.Command{
		Use:   "lock",
		Short: "Measure locks: rate, waiting time, fairness",
		Long: `Measure locks on a backend, mem: unless another is given.

Each client has connections of its own and competes as a process would; its
goroutines share it, as those of a process do. All contend for --names locks and
do nothing while they hold one. Names begin with "bedrock-bench:"; no lock is left.`,
		Example: `  bedrock bench lock
  bedrock bench lock --backend redis://localhost:6379 --clients 4 --goroutines 16 --names 1 --duration 10s`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := flags.check(); err != nil {
				return &exitError{exitUsage, err}
			}
			return sys.benchLock(c.Context(), &flags)
		},
	}
	f := c.Flags()
	f.IntVar(&flags.clients, "clients", 4, "clients that compete as processes would")
	f.IntVar(&flags.goroutines, "goroutines", 4, "goroutines of each client")
	f.IntVar(&flags.names, "names", 1, "how many locks they share")
	f.DurationVar(&flags.duration, "duration", 5*time.Second, "how long to measure")
	f.BoolVar(&flags.fair, "fair", false, "first come, first served, across all clients")
	return sys.onBackend(c)
}

func (f *benchFlags) check() error {
	for _, limit := range []struct {
		flag        string
		value, most int
	}{
		{"clients", f.clients, benchClientsMost},
		{"goroutines", f.goroutines, benchGoroutinesMost},
		{"names", f.names, benchNamesMost},
	} {
		if limit.value < 1 || limit.value > limit.most {
			return fmt.Errorf("--%s is %d, allowed are 1 to %d", limit.flag, limit.value, limit.most)
		}
	}
	if f.duration <= 0 || f.duration > benchDurationMost {
		return fmt.Errorf("--duration is %s, allowed is up to %s", f.duration, benchDurationMost)
	}
	return nil
}

func (s *system) benchLock(ctx context.Context, flags *benchFlags) error {
	backend, err := s.newBackend("mem:")
	if err != nil {
		return err
	}
	plan := lockbench.Plan{
		Goroutines: flags.goroutines, Names: benchNames(flags.names), Duration: flags.duration, Fair: flags.fair,
	}
	for range flags.clients {
		session, err := backend.Open(lock.Options{})
		if err != nil {
			return err
		}
		defer closeSession(session)
		plan.Clients = append(plan.Clients, session.Client)
	}
	if _, err := plan.Clients[0].Inspect(ctx, plan.Names[0]); err != nil {
		return fromBackend(err) // nothing to measure
	}
	fmt.Fprintf(s.stderr, "measuring %s for %s\n", backend, flags.duration)
	result := lockbench.Run(ctx, plan)
	if result.Locks == 0 && result.Err != nil {
		return fromBackend(result.Err)
	}
	if s.output == formatJSON {
		return writeJSON(s.stdout, result)
	}
	_, err = fmt.Fprint(s.stdout, result)
	return err
}

// benchNames returns names that no other run has.
func benchNames(n int) []string {
	run, names := rand.Text()[:8], make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("bedrock-bench:%s:%d", run, i)
	}
	return names
}
