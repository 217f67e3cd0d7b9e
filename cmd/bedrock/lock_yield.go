package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
)

// yieldFlags are those of lock yield.
type yieldFlags struct {
	reason string
	within time.Duration
	wait   bool
}

// yielded is the answer of lock yield.
type yielded struct {
	Name string `json:"name"`
	// Held says that somebody had it.
	Held bool `json:"held"`
	Told int  `json:"told"`
	// Latch is what is left of a latch, where the name is that of one.
	Latch *latchView `json:"latch,omitempty"`
	// GivenBack says that none has it any more who had it; left out by who does not wait.
	GivenBack *bool `json:"given_back,omitempty"`
}

func newLockYield(sys *system) *cobra.Command {
	var flags yieldFlags
	c := &cobra.Command{
		Use:   "yield NAME",
		Short: "Ask who has a lock to give it back",
		Long: `Ask all who have the lock NAME to give it back, and print how many of them were told.

Nothing is taken away: it is theirs to decide. 'bedrock lock run' and 'bedrock elect' say
what they are asked, and end their command if they were started with --yield; a program
hears of it by Lease.Asked. Who uses another library, or has only just come, may hear
nothing. 'bedrock lock release --force' asks nobody.

With --wait it goes on until none has the lock any more who had it, whoever has it then,
or until --within is over; a backend that does not answer takes half a second more.

Exit codes: 0 somebody was told, or nobody has the lock; 1 somebody has it, and none of
them can be told; 75 with --wait, some of them still have it when the time is over.`,
		Example: `  bedrock lock yield deploy
  bedrock lock yield nightly-report --reason 'the host is going down' --within 30s --wait`,
		Args:              wants("NAME"),
		ValidArgsFunction: sys.completeLock,
		RunE: func(c *cobra.Command, args []string) error {
			return sys.askToYield(c.Context(), args[0], &flags)
		},
	}
	f := c.Flags()
	f.StringVar(&flags.reason, "reason", "", "why, for people to read: one line")
	f.DurationVar(&flags.within, "within", 0, "in what time it is wanted (default as soon as it can be)")
	f.BoolVar(&flags.wait, "wait", false, "wait until they have given it back, for --within (default no limit)")
	return c
}

func (s *system) askToYield(ctx context.Context, name string, flags *yieldFlags) (err error) {
	session, err := s.open(lock.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = closeWithin(session, endLimit(err)) }()
	return fromBackend(s.lockYield(ctx, session, name, flags))
}

// askingLimit is how long asking may take. Who waits for a time has an answer then, or knows that there is none.
func (f *yieldFlags) askingLimit() time.Duration {
	if f.wait && f.within > 0 {
		return min(f.within+answerGrace, askLimit)
	}
	return askLimit
}

// lockYield asks, and waits if it is to.
func (s *system) lockYield(ctx context.Context, session *lockurl.Session, name string, flags *yieldFlags) error {
	began := time.Now()
	asking, cancel := context.WithTimeout(ctx, flags.askingLimit())
	defer cancel()
	before, err := session.Inspect(asking, name)
	if err != nil {
		return err
	}
	told, err := session.Ask(asking, name, flags.reason, flags.within)
	if err != nil {
		return err
	}
	answer := yielded{Name: name, Held: before.Held() || told > 0, Told: told}
	if !answer.Held {
		if answer.Latch, err = latchOf(asking, session, name); err != nil {
			return err
		}
	}
	if !flags.wait {
		return errors.Join(s.printYielded(&answer), answer.unheard())
	}
	if answer.Held && s.output != formatJSON {
		fmt.Fprintf(s.stderr, "bedrock: %s; waiting\n", &answer)
	}
	if flags.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, began.Add(flags.within))
		defer cancel()
	}
	last, err := awaitGivenBack(ctx, session, &lockView{before})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	answer.GivenBack = new(bool)
	*answer.GivenBack = err == nil
	if err := s.printYielded(&answer); err != nil {
		return err
	}
	if err != nil {
		return &exitError{exitHeld, fmt.Errorf("lock %q is still held by %s", name, last.firstHolder())}
	}
	return nil
}

// yieldInterval is how often is looked whether a lock was given back.
const yieldInterval = 200 * time.Millisecond

// awaitGivenBack waits until none has the lock any more who had it before. It returns who had it last of them. While
// the backend does not answer it goes on.
func awaitGivenBack(ctx context.Context, session *lockurl.Session, before *lockView) (*lockView, error) {
	last, owners := before, before.publicOwners()
	tick := time.NewTicker(yieldInterval)
	defer tick.Stop()
	for {
		info, err := session.Inspect(ctx, before.Name)
		if err == nil {
			now := &lockView{info}
			if !slices.ContainsFunc(now.publicOwners(), func(o string) bool { return slices.Contains(owners, o) }) {
				return last, nil
			}
			last = now
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return last, ctx.Err()
		}
	}
}

// unheard is the exit code of who has asked and was not heard.
func (y *yielded) unheard() error {
	if y.Held && y.Told == 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// String says it for people.
func (y *yielded) String() string {
	name := printableText(y.Name)
	switch {
	case y.GivenBack != nil && *y.GivenBack && y.Held:
		return name + " was given back"
	case y.Latch != nil:
		return fmt.Sprintf("%s is a %s: nobody has it; see 'bedrock latch show'", name, y.Latch.what())
	case !y.Held:
		return name + " is not held: there is nobody to ask"
	case y.Told == 0:
		return name + " is held, and none of its holders can be told: 0 were asked"
	case y.Told == 1:
		return name + ": 1 holder was asked"
	}
	return fmt.Sprintf("%s: %d holders were asked", name, y.Told)
}

func (s *system) printYielded(y *yielded) error {
	if s.output == formatJSON {
		return writeJSON(s.stdout, y)
	}
	_, err := fmt.Fprintln(s.stdout, y)
	return err
}
