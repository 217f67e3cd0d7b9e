package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bedrock-go/bedrock/internal/child"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
)

// runFlags are those of lock run.
type runFlags struct {
	ttl, wait, minHold, maxHold, grace time.Duration
	fixed, fair, shared, write, yield  bool
	permits                            string // N/M
	meta                               map[string]string

	noWait    bool // --wait 0
	semaphore bool // --permits was given
}

func newLockRun(sys *system) *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "run NAME [flags] -- COMMAND [ARG…]",
		Short: "Run a command while holding a lock",
		Long: `Run a command while holding the lock NAME, and end with the command's exit code.

The lock is renewed for as long as the command runs. If it is lost, the command and
what it has started get SIGTERM, who is left of them after --grace SIGKILL, and the exit
code is 76. If the lock is not acquired within --wait, the command is not started and the
exit code is 75; it is 69 if the backend did not answer meanwhile, which --wait 0 gives 2 s.
Of a backend that does not answer when --wait is over, both may come half a second later.

When somebody asks for the lock with 'bedrock lock yield' a line says so, with the
reason and by when, and the command goes on. With --yield it is ended as above, the
lock is given back, and the exit code is 79.

With --max-hold the command is ended likewise after that time, and the lock is held until
all of it has ended: for at most --max-hold and --grace together. The exit code is 76.

The command finds in its environment
  BEDROCK_LOCK_NAME   the lock's name
  BEDROCK_LOCK_TOKEN  the fencing token: higher than that of every earlier holder
  BEDROCK_LOCK_OWNER  the owner id under which the backend knows the holder
Pass the token along with every write, to a resource that refuses lower tokens
than it has seen: then nothing a delayed command does can harm its successor.

Signals (INT, TERM, HUP, QUIT, USR1, USR2) are passed on, also during --grace. The
command runs in a process group of its own, and signals go to the whole group, so that
nothing it has started works on when the lock is lost; what it leaves running when it
ends by itself is left alone. Only when standard input is a terminal does the command
stay in the terminal's group, so that it can read from it; it gets Ctrl-C from the
terminal then, and other signals go to the command alone.

On Linux the command is killed when bedrock itself is killed, by SIGKILL. What the
command has started is not: it works on without the lock. Only the token keeps it
from harm then, or a script that starts its work with exec.

A bedrock that is stopped, by SIGSTOP, renews nothing and ends nothing: after --ttl others
have the lock while the command works on, and when bedrock goes on it ends the command as
above. Again only the token keeps it from harm.

Exit codes: the command's own; 75 not acquired; 76 lost, or held for --max-hold; 79 asked for, with --yield;
64 usage; 69 the backend did not answer; 77 the server wants another token; 126 and 127
the command cannot be executed, was not found; 128+n ended by signal n.`,
		Example: `  bedrock lock run nightly-report -- ./report.sh
  bedrock lock run nightly-report --wait 0 --min-hold 1m -- ./report.sh   # once per night on any host
  bedrock lock run deploy --wait 10m --meta by=$USER -- make deploy
  bedrock lock run print --fair -- ./print.sh         # first come, first served, on all hosts
  bedrock lock run index --shared -- ./search.sh      # beside others, but for --write
  bedrock lock run scrape --permits 1/4 -- ./scrape.sh   # four at a time, on all hosts
  BEDROCK_BACKEND="redis://a redis://b redis://c" bedrock lock run nightly-report --quorum -- ./report.sh`,
		Args: commandArgs,
		RunE: func(c *cobra.Command, args []string) error {
			flags.noWait = c.Flags().Changed("wait") && flags.wait == 0 // given, not left out
			flags.semaphore = c.Flags().Changed("permits")              // perhaps by a variable that is not set
			if err := refuseZero(c.Flags()); err != nil {
				return err
			}
			if err := sys.backend.refuseMore(c.Flags(), "fair", "shared", "write", "permits"); err != nil {
				return err
			}
			return sys.lockRun(c.Context(), args[0], args[1:], &flags)
		},
	}
	flags.register(c.Flags())
	return c
}

func (f *runFlags) register(set *pflag.FlagSet) {
	set.DurationVar(&f.ttl, "ttl", 0, "lease length: how long others wait if this process dies (default 30s)")
	set.DurationVar(&f.wait, "wait", 0, "longest wait for the lock; 0 for none (default no limit)")
	set.DurationVar(&f.minHold, "min-hold", 0,
		"keep the lock at least that long, also when the command ends earlier; where locks end with\n"+
			"a process (zk://, profiles advisory and named) this one stays for so long")
	set.DurationVar(&f.grace, "grace", 5*time.Second, "time between SIGTERM and SIGKILL when the command has to end")
	set.BoolVar(&f.fixed, "fixed", false, "do not renew: the command has --ttl to finish")
	set.DurationVar(&f.maxHold, "max-hold", 0, maxHoldUsage)
	set.BoolVar(&f.fair, "fair", false, "first come, first served: wait in line, across all processes that say so")
	set.BoolVar(&f.shared, "shared", false, "lock to read: beside others with --shared, and nobody with --write")
	set.BoolVar(&f.write, "write", false, "lock to write what others lock with --shared")
	set.BoolVar(&f.yield, "yield", false, yieldUsage)
	set.StringVar(&f.permits, "permits", "", "N/M: take N of the M permits of a semaphore; M for one of them")
	set.StringToStringVar(&f.meta, "meta", nil, "key=value to show beside the lock; may be repeated")
}

func (f *runFlags) check() error {
	kinds := 0
	for _, given := range []bool{f.shared, f.write, f.semaphore} {
		if given {
			kinds++
		}
	}
	switch {
	case f.wait < 0 || f.grace < 0:
		return &exitError{exitUsage, errors.New("--wait and --grace cannot be negative")}
	case kinds > 1:
		return &exitError{exitUsage, errors.New("--shared, --write and --permits exclude each other")}
	case kinds > 0 && f.fair:
		return &exitError{exitUsage, errors.New("--fair is for a mutex: not with --shared, --write or --permits")}
	}
	_, _, err := f.permitsOf()
	return err
}

// permitsOf reads --permits.
func (f *runFlags) permitsOf() (n, of int, err error) {
	if !f.semaphore {
		return 0, 0, nil
	}
	first, second, both := strings.Cut(f.permits, "/")
	n, err = strconv.Atoi(first)
	of = n
	if both && err == nil {
		of, err = strconv.Atoi(second)
	} else {
		n = 1
	}
	if err != nil {
		err = fmt.Errorf("--permits is %q, want N/M such as 2/8, or M for one of M", f.permits)
		return 0, 0, &exitError{exitUsage, err}
	}
	return n, of, f.checkPermits(n, of)
}

// checkPermits refuses more permits than there are, or none: what is wrong with how many there are is the library's to
// say.
func (f *runFlags) checkPermits(n, of int) error {
	switch {
	case of < 1:
		return nil
	case n > of:
		return &exitError{exitUsage, fmt.Errorf("--permits is %s, more than all of them", f.permits)}
	case n < 1:
		return &exitError{exitUsage, fmt.Errorf("--permits is %s, the least is 1/%d", f.permits, of)}
	}
	return nil
}

// lockFor returns the lock that the flags ask for.
func (f *runFlags) lockFor(session *lockurl.Session, name string) (lock.Lockable, error) {
	if err := checkMaxHold(session, name, f.maxHold, f.minHold); err != nil {
		return nil, err
	}
	maxHold := longestHold(f.maxHold, f.grace)
	o := lock.MutexOptions{
		Fixed: f.fixed, Fair: f.fair, MinHold: f.minHold, MaxHold: maxHold, Wait: f.wait, Meta: f.meta,
	}
	rw := &lock.RWMutexOptions{Fixed: f.fixed, MinHold: f.minHold, MaxHold: maxHold, Wait: f.wait, Meta: f.meta}
	switch {
	case f.shared:
		return session.RWMutex(name, rw).Reader(), nil
	case f.write:
		return session.RWMutex(name, rw).Writer(), nil
	case f.semaphore:
		n, of, err := f.permitsOf()
		if err != nil {
			return nil, err
		}
		return session.Semaphore(name, of, (*lock.SemaphoreOptions)(&o)).Permits(n), nil
	default:
		return session.Mutex(name, &o), nil
	}
}

// lockRun runs a command under a lock.
func (s *system) lockRun(ctx context.Context, name string, argv []string, flags *runFlags) (err error) {
	if err := flags.check(); err != nil {
		return err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return &exitError{child.StartCode(err), err}
	}
	if err := s.checkQuarantine(flags.ttl); err != nil {
		return err
	}
	session, err := s.open(lock.Options{
		TTL: flags.ttl, Patience: flags.patience(), Observer: pleas{s, flags.yield},
	})
	if err != nil {
		return err
	}
	r := s.newRunner(ctx, path, argv[1:], flags.grace)
	defer func() { r.endWithin(session, endLimit(err)) }()
	defer r.stop()
	wanted, err := flags.lockFor(session, name)
	if err != nil {
		return err
	}
	r.yield, r.maxHold = flags.yield, flags.maxHold
	wait := wanted.Lock
	if flags.noWait {
		wait = wanted.TryLock
	}
	lease, err := waitForTurn(r, wait, func(ctx context.Context) {
		s.sayWaiting(ctx, session, name, flags.toldReaders(session, name))
	})
	if err != nil {
		return whyNot(r.ctx, session, name, err)
	}
	began := time.Now()
	_, err = r.runUnder(lease)
	if session.EndsLocks && !errors.Is(context.Cause(lease.Context()), lock.ErrLost) {
		r.awaitLeast(flags.minHold - time.Since(began))
	}
	return err
}

// awaitLeast keeps the process for the rest of the least time of a lock that would end with it.
func (r *runner) awaitLeast(rest time.Duration) {
	if rest <= 0 {
		return
	}
	fmt.Fprintf(r.sys.stderr, "bedrock: keeps the lock for another %s, for --min-hold: there it would end with this "+
		"process\n", rest.Round(time.Millisecond))
	select {
	case <-r.signals:
	case <-r.ctx.Done():
	case <-time.After(rest):
	}
}

const (
	answerLimit = 2 * time.Second        // the longest an answer takes, of who does not wait
	answerGrace = 250 * time.Millisecond // and of who asks once more when the time is over
)

// patience is such that the one request of who does not wait has answerLimit: half of it. Who waits for a moment has
// that moment, also for a connection that is made at once.
func (f *runFlags) patience() time.Duration {
	switch {
	case f.noWait:
		return 2 * answerLimit
	case f.wait > 0:
		return min(max(2*f.wait, answerLimit), 5*answerLimit)
	}
	return 0
}
