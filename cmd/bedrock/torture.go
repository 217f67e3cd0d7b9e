package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/locks"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
	"github.com/bedrock-go/bedrock/internal/torture/txns"
)

func newTorture(sys *system) *cobra.Command {
	c := &cobra.Command{
		Use:   "torture",
		Short: "Break what locks and transactions run on, and check that every promise is kept",
		Long: `Use locks or transactions from real processes, in every way there is, while processes
are paused and killed, connections delayed, cut and black-holed, and, on servers that the
run has started itself, servers frozen, killed and failed over. All write down what they
see; oracles, and porcupine, judge it afterwards. Needs no root.

The report says what was done, what was broken, which promise was not kept, the longest
waits, and what was no violation only because a fault excuses it.

Exit codes: 0 every promise was kept; 1 one was not; 6 the run proves nothing: a fault
cannot be shown to have happened, or too little was going on. The history is kept unless
all is well; 'bedrock torture check' judges it again.

--seed chooses workload and faults. Processes and networks have a time of their own, so
the same seed makes a similar run, not the same one.`,
		Example: `  bedrock torture locks --backend redis://localhost:6379 --for 10m
  bedrock torture locks --start sentinel --for 1m
  bedrock torture check ./torture-locks-123`,
	}
	c.AddCommand(newTortureLocks(sys), newTortureTx(sys), newTortureCheck(sys), newTortureWorker(sys))
	return group(c)
}

// tortureFlags are those of every kind of torture.
type tortureFlags struct {
	start, dir string
	duration   time.Duration
	seed       uint64
	keep       bool
}

func (f *tortureFlags) register(c *cobra.Command, scenes string) {
	flags := c.Flags()
	flags.StringVar(&f.start, "start", "", "start servers for it: "+scenes)
	flags.DurationVar(&f.duration, "for", time.Minute, "how long to go on")
	flags.Uint64Var(&f.seed, "seed", 0, "chooses workload and faults (default a random one)")
	flags.StringVar(&f.dir, "dir", "", "folder for history and logs (default a new one, removed when all is well)")
	flags.BoolVar(&f.keep, "keep", false, "keep the history even when all is well")
}

// fillIn fills in what was not given.
func (f *tortureFlags) fillIn(kind string) (err error) {
	for f.seed == 0 {
		f.seed = rand.Uint64()
	}
	if f.dir != "" {
		f.keep = true
		return os.MkdirAll(f.dir, 0o700)
	}
	f.dir, err = os.MkdirTemp("", "bedrock-torture-"+kind+"-")
	return err
}

// self is how this program is started again as a worker.
func self(role string) (stage.Program, error) {
	path, err := os.Executable()
	if err != nil {
		return stage.Program{}, fmt.Errorf("torture: %w", err)
	}
	return stage.Program{Executable: path, Args: []string{"torture", tortureWorker, role}}, nil
}

// judged prints a report and turns it into the exit code.
func (s *system) judged(r *audit.Report, f *tortureFlags) error {
	if f != nil && r.Verdict == audit.Clean && !f.keep {
		r.Dir = ""
		if err := os.RemoveAll(f.dir); err != nil {
			return err
		}
	}
	if err := s.printReport(r); err != nil {
		return err
	}
	switch r.Verdict {
	case audit.Violated:
		return &exitError{code: exitFailed}
	case audit.Inconclusive:
		return &exitError{code: exitInconclusive}
	case audit.Clean:
	}
	return nil
}

func (s *system) printReport(r *audit.Report) error {
	if s.output == formatJSON {
		return writeJSON(s.stdout, r)
	}
	return r.Print(s.stdout)
}

// lockFlags are those of torture locks.
type lockFlags struct {
	tortureFlags

	workers, hands, keepers int
}

// The limits of a load: it must not bring down the machine that it runs on.
const (
	tortureWorkersMost = 64
	tortureHandsMost   = 256
)

func newTortureLocks(sys *system) *cobra.Command {
	var flags lockFlags
	c := &cobra.Command{
		Use:   "locks",
		Short: "Torture locks on a backend, or on servers started for it",
		Long: `Torture locks. With --backend (or BEDROCK_BACKEND) the backend is yours: an URL as of the
other commands, or that of a Bedrock server, http://host:port. Nothing is done to its
servers, only to the workers and their connections (not to those of Sentinel, of a
cluster, or over TLS). All names begin with "bedrock-torture:".

With --start servers are started for the run, and broken as well:

  memory    locks in the memory of one process
  redis     one Redis with its data on disk; also emptied, which may grant a lock twice:
            counted as explained. Workers are of several kinds: some are passed locks
            on by the server, some are of an older version, some want what is never
            passed on, some poll
  replica   a Redis whose replica has to confirm every grant, and fail-overs that must
            not lose one
  sentinel  a master, two replicas and three Sentinels; a fail-over may grant twice
  cluster   three masters with a replica each; slots are moved, too
  server    a Bedrock server with its locks on a Redis
  etcd      one member with its data on disk
  zookeeper one server; the locks of a worker that was killed stay for a session
  postgres  a database, and so is mariadb: leases of a second are short for them, and one
            is lost now and then where the machine has other work
  sqlite    a file, which somebody else locks for a time`,
		Example: `  bedrock torture locks --start redis --for 30s
  bedrock torture locks --backend redis://:secret@test-redis:6379/5 --for 10m -o json`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return sys.tortureLocks(c.Context(), &flags) },
	}
	flags.register(c, strings.Join(locks.Scenes(), ", "))
	f := c.Flags()
	f.IntVar(&flags.workers, "workers", 4, "worker processes")
	f.IntVar(&flags.hands, "hands", 4, "goroutines of each client that share names; each worker has two clients")
	f.IntVar(&flags.keepers, "keepers", 20, "goroutines of each client with names of their own")
	return sys.onOneBackend(c)
}

func (f *lockFlags) check() error {
	for _, limit := range []struct {
		flag        string
		value, most int
	}{
		{"workers", f.workers, tortureWorkersMost},
		{"hands", f.hands, tortureHandsMost},
		{"keepers", f.keepers, tortureHandsMost},
	} {
		if limit.value < 1 || limit.value > limit.most {
			return fmt.Errorf("--%s is %d, allowed are 1 to %d", limit.flag, limit.value, limit.most)
		}
	}
	return nil
}

func (s *system) tortureLocks(ctx context.Context, f *lockFlags) error {
	p := &locks.Plan{
		Start: f.start, For: f.duration, Workers: f.workers, Hands: f.hands, Keepers: f.keepers, Progress: s.stderr,
	}
	if f.start == "" || s.backend.typed() {
		url, err := s.oneBackendURL()
		if err != nil {
			return err
		}
		p.Backend = url
	}
	err := f.check()
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if err := f.fillIn("locks"); err != nil {
		return err
	}
	if p.Program, err = self("locks"); err != nil {
		return err
	}
	p.Dir, p.Seed = f.dir, f.seed
	fmt.Fprintf(s.stderr, "torturing locks for %s, seed %d, history in %s\n", f.duration, f.seed, f.dir)
	r, err := locks.Run(ctx, p)
	if err != nil {
		return err
	}
	return s.judged(r, &f.tortureFlags)
}

func newTortureCheck(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:     "check DIR",
		Short:   "Judge a history again",
		Example: "  bedrock torture check /tmp/bedrock-torture-locks-123",
		Args:    wants("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			judge := locks.Judge
			if txns.IsHistory(args[0]) {
				judge = txns.Judge
			}
			r, err := judge(args[0])
			switch {
			case errors.Is(err, history.ErrNone):
				return &exitError{exitUsage, fmt.Errorf("%s %w of locks or transactions", args[0], history.ErrNone)}
			case err != nil:
				return err
			}
			return sys.judged(r, nil)
		},
	}
}

// tortureWorker is the hidden command by which a run starts its processes.
const tortureWorker = "worker"

func newTortureWorker(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:    tortureWorker + " ROLE",
		Hidden: true,
		Args:   wants("ROLE"),
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case "locks":
				return locks.Work(c.Context(), sys.getenv, sys.stdin)
			case "tx":
				return txns.Work(c.Context(), sys.getenv, sys.stdin)
			}
			return fmt.Errorf("torture: no role %q", args[0])
		},
	}
}
