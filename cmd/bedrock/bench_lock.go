package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/lockbench"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
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
	fair, shared, write        bool
	permits, together          int
}

func newBenchLock(sys *system) *cobra.Command {
	var flags benchFlags
	c := &cobra.Command{
		Use:   "lock",
		Short: "Measure locks: rate, waiting time, fairness",
		Long: `Measure locks on a backend, mem: unless another is given.

Each client has connections of its own and competes as a process would; its
goroutines share it, as those of a process do. All contend for --names locks and
do nothing while they hold one. They are plain locks, or of the kind that a flag says,
and at several backends with --quorum or --combination. Names begin with "bedrock-bench:"; no lock is left.`,
		Example: `  bedrock bench lock
  bedrock bench lock --backend redis://localhost:6379 --clients 4 --goroutines 16 --names 1 --duration 10s
  bedrock bench lock --shared --write               # 95 of 100 read
  bedrock bench lock --names 16 --names-together 2  # two at a time`,
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
	f.BoolVar(&flags.shared, "shared", false, "read-write locks: all read; with --write 95 of 100 do")
	f.BoolVar(&flags.write, "write", false, "read-write locks: all write; with --shared 5 of 100 do")
	f.IntVar(&flags.permits, "permits", 0, "semaphores of so many permits, of which everybody takes one")
	f.IntVar(&flags.together, "names-together", 1, "lock so many of --names at a time, in one step where that can be")
	return sys.onBackend(c)
}

// mixedWrites is how many of a hundred write where others read.
const mixedWrites = 5

// kind says what the locks are.
func (f *benchFlags) kind() lockbench.Kind {
	k := lockbench.Kind{Fair: f.fair, Permits: f.permits, Together: f.together}
	switch {
	case f.shared && f.write:
		k.Writes = mixedWrites
	case f.shared:
		k.Writes = -1
	case f.write:
		k.Writes = 100
	}
	return k
}

// checkKind refuses what does not fit together.
func (f *benchFlags) checkKind() error {
	kinds := 0
	for _, given := range []bool{f.fair, f.shared || f.write, f.permits != 0, f.together > 1} {
		if given {
			kinds++
		}
	}
	switch {
	case f.permits < 0 || f.permits > driver.MaxPermits:
		return fmt.Errorf("--permits is %d, allowed are 1 to %d", f.permits, driver.MaxPermits)
	case kinds > 1:
		return errors.New("--fair, --shared and --write, --permits and --names-together exclude each other")
	case f.together > f.names:
		return fmt.Errorf("--names-together is %d, and there are %d --names", f.together, f.names)
	}
	return nil
}

func (f *benchFlags) check() error {
	for _, limit := range []struct {
		flag        string
		value, most int
	}{
		{"clients", f.clients, benchClientsMost},
		{"goroutines", f.goroutines, benchGoroutinesMost},
		{"names", f.names, benchNamesMost},
		{"names-together", f.together, driver.MaxBundle},
	} {
		if limit.value < 1 || limit.value > limit.most {
			return fmt.Errorf("--%s is %d, allowed are 1 to %d", limit.flag, limit.value, limit.most)
		}
	}
	if f.duration <= 0 || f.duration > benchDurationMost {
		return fmt.Errorf("--duration is %s, allowed is up to %s", f.duration, benchDurationMost)
	}
	return f.checkKind()
}

func (s *system) benchLock(ctx context.Context, flags *benchFlags) error {
	backend, err := s.newBackend("mem:")
	if err != nil {
		return err
	}
	plan := lockbench.Plan{
		Goroutines: flags.goroutines, Names: benchNames(flags.names), Duration: flags.duration, Kind: flags.kind(),
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
