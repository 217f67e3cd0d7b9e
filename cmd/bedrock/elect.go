package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/child"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/election"
)

// electFlags are those of elect.
type electFlags struct {
	ttl, maxHold, grace  time.Duration
	fair, observe, yield bool
	meta                 map[string]string
}

func newElect(sys *system) *cobra.Command {
	var flags electFlags
	c := &cobra.Command{
		Use:   "elect NAME [flags] -- COMMAND [ARG…]",
		Short: "Run a command on one of many hosts: on the one that leads",
		Long: `Run the command while this process is the leader of the election NAME, and end with
the command's exit code when it ends by itself.

All who say so campaign, and one of them leads. When that one dies another takes over
within --ttl, and at once when it ends. If leadership is lost the command gets SIGTERM,
after --grace SIGKILL, and this process campaigns again: it goes on until the command
ends by itself, or a signal ends it. While a backend does not answer it keeps trying.

The leader has the lock NAME, which 'bedrock lock show NAME' shows. The command finds
BEDROCK_LOCK_NAME, BEDROCK_LOCK_TOKEN and BEDROCK_LOCK_OWNER in its environment; about
them, signals, process groups and what a killed bedrock leaves behind, see 'bedrock
lock run --help': all of it is the same. Pass the token along with every write.

When somebody asks for the lock with 'bedrock lock yield' a line says so, and the command
goes on. With --yield it is ended as above and the exit code is 79: whoever has started
this process decides whether it campaigns again.

With --max-hold the command is ended after that time of leadership, others lead when it
has ended, or was killed after --grace, and this process campaigns again. So it leads for
at most --max-hold and --grace together at a time.

With --observe it runs nothing: it prints who leads, and every change, until
interrupted; then the exit code is 0. While the backend does not answer it keeps trying,
and says so. One that refuses at the start, as for a wrong password, ends it.

Exit codes: the command's own; 64 usage; 69 the backend refused; 77 the server wants another
token; 79 asked for, with --yield; 126 and 127 the command cannot be executed, was not found;
128+n ended by signal n.`,
		Example: `  bedrock elect scheduler -- ./scheduler
  bedrock elect scheduler --ttl 5s --meta url=http://$HOSTNAME:8080 -- ./scheduler
  bedrock elect scheduler --observe -o json`,
		Args:              func(c *cobra.Command, args []string) error { return electArgs(c, args, &flags) },
		ValidArgsFunction: sys.completeElection,
		RunE: func(c *cobra.Command, args []string) error {
			if flags.observe {
				return sys.observe(c.Context(), args[0])
			}
			if err := refuseZero(c.Flags()); err != nil {
				return err
			}
			if err := sys.backend.refuseMore(c.Flags(), "fair"); err != nil {
				return err
			}
			return sys.elect(c.Context(), args[0], args[1:], &flags)
		},
	}
	f := c.Flags()
	f.DurationVar(&flags.ttl, "ttl", 0, "how long there is no leader if this process dies (default 30s)")
	f.DurationVar(&flags.grace, "grace", 5*time.Second, "time between SIGTERM and SIGKILL when the command has to end")
	f.DurationVar(&flags.maxHold, "max-hold", 0, maxHoldUsage)
	f.BoolVar(&flags.fair, "fair", false, "who has campaigned for longest leads next, among all who say so")
	f.BoolVar(&flags.yield, "yield", false, yieldUsage)
	f.StringToStringVar(&flags.meta, "meta", nil, "key=value to show beside the leader; may be repeated")
	f.BoolVar(&flags.observe, "observe", false, "print the leader and every change, and run nothing")
	return sys.onLocks(c)
}

// electArgs wants NAME -- COMMAND, or NAME alone of who observes.
func electArgs(c *cobra.Command, args []string, flags *electFlags) error {
	switch {
	case !flags.observe:
		return commandArgs(c, args)
	case len(args) > 1 || c.ArgsLenAtDash() >= 0:
		return errors.New("elect: --observe runs no command")
	}
	for _, flag := range []string{"ttl", "grace", "max-hold", "fair", "yield", "meta"} {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("elect: --%s is for a command, and --observe runs none", flag)
		}
	}
	return wants("NAME")(c, args)
}

// elect runs a command whenever this process leads, until the command ends by itself.
func (s *system) elect(ctx context.Context, name string, argv []string, flags *electFlags) (err error) {
	if flags.grace < 0 {
		return &exitError{exitUsage, errors.New("--grace cannot be negative")}
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return &exitError{child.StartCode(err), err}
	}
	if err := s.checkQuarantine(flags.ttl); err != nil {
		return err
	}
	session, err := s.open(lock.Options{TTL: flags.ttl, Observer: pleas{s, flags.yield}})
	if err != nil {
		return err
	}
	r := s.newRunner(ctx, path, argv[1:], flags.grace)
	defer func() { r.endWithin(session, endLimit(err)) }()
	defer r.stop()
	r.yield, r.maxHold = flags.yield, flags.maxHold
	if err := checkMaxHold(session, name, flags.maxHold, 0); err != nil {
		return err
	}
	c := &candidate{runner: r, session: session, election: election.New(session.Client, name, &election.Options{
		Meta: flags.meta, Fair: flags.fair, MaxHold: longestHold(flags.maxHold, flags.grace),
	})}
	for {
		over, err := c.runTerm()
		if over {
			return err
		}
		fmt.Fprintf(s.stderr, "bedrock: %v; campaigning again\n", err)
		if err := c.letOthersLead(); err != nil {
			return err
		}
	}
}

// candidate campaigns, and runs the command when it leads.
type candidate struct {
	*runner

	session  *lockurl.Session
	election *election.Election
}

// runTerm campaigns once, and runs the command for as long as it leads. It reports whether that was all.
func (c *candidate) runTerm() (over bool, err error) {
	name := c.election.Name()
	term, err := waitForTurn(c.runner, c.election.Campaign, func(ctx context.Context) {
		c.sys.sayWaiting(ctx, c.session, name, nil)
	})
	if err != nil {
		return !mayCampaignAgain(err), fromBackend(err)
	}
	result, err := c.runUnder(term.Lease())
	switch {
	case !isLost(err):
		return true, err
	case result.Ended:
		return false, err
	}
	fmt.Fprintln(c.sys.stderr, "bedrock: warning:", err) // it ended by itself
	if result.Code != 0 {
		return true, &exitError{code: result.Code}
	}
	return true, nil
}

// mayCampaignAgain reports whether one more campaign may be won after one that has failed.
func mayCampaignAgain(err error) bool {
	_, signalled := errors.AsType[*exitError](err)
	return !signalled && !errors.Is(err, driver.ErrRefused) && !errors.Is(err, lock.ErrInvalid) &&
		!errors.Is(err, lock.ErrClosed)
}

// letOthersLead waits for about a second, or for a signal that ends the program.
func (c *candidate) letOthersLead() error {
	pause := time.NewTimer(silentFor/2 + rand.N(silentFor))
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
			return nil
		case s := <-c.signals:
			if child.Ends(s) {
				return &exitError{code: child.Code(s)}
			}
		}
	}
}
