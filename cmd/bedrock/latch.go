package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock/latch"
)

func newLatch(sys *system) *cobra.Command {
	c := &cobra.Command{
		Use:   "latch",
		Short: "Let many wait until a number of things have happened",
		Long: `Let many wait until a number of things have happened: a latch has a count, which comes
down to zero, and then everybody goes on.

A latch is there while its count is above zero; then it is open, and gone. It has no time
to live: when one who should count it down has died, 'bedrock latch drop' opens it. Its
name is shared with no lock. One backend keeps it: there is none of --quorum or
--combination.`,
		Example: `  bedrock latch set import/42 3
  bedrock latch down import/42                                # by each of the three
  bedrock latch await import/42 --timeout 10m && ./report.sh   # by anybody`,
	}
	c.AddCommand(newLatchSet(sys), newLatchDown(sys), newLatchShow(sys), newLatchAwait(sys), newLatchDrop(sys))
	c.SetFlagErrorFunc(countError)
	return group(sys.onServer(sys.onOneBackend(c))) // several that make one lock keep no latches
}

// latchView is a latch as the commands print it.
type latchView struct {
	Name string `json:"name"`
	Left int    `json:"left"`
}

// String says it for people.
func (v *latchView) String() string {
	if v.Left == 0 {
		return printableText(v.Name) + " is open"
	}
	return printableText(v.Name) + " has " + strconv.Itoa(v.Left) + " left"
}

// what says of a name that was taken for a lock's what it is.
func (v *latchView) what() string { return fmt.Sprintf("latch, %d left", v.Left) }

// rows lists the fields of the latch for people.
func (v *latchView) rows() [][]string {
	state := "closed"
	if v.Left == 0 {
		state = "open"
	}
	return [][]string{{"name", v.Name}, {"state", state}, {"left", strconv.Itoa(v.Left)}}
}

// printLatch prints what is left of a count.
func (s *system) printLatch(v latchView) error {
	if s.output == formatJSON {
		return writeJSON(s.stdout, v)
	}
	_, err := fmt.Fprintln(s.stdout, &v)
	return err
}

// latchSet is the answer of latch set.
type latchSet struct {
	Name string `json:"name"`
	Set  bool   `json:"set"`
}

func newLatchSet(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:   "set NAME COUNT",
		Short: "Give a latch its count, if it has none",
		Long: `Give the latch NAME its count, if it has none. One that has goes on with it, so whoever
comes first may set it. Set it before those start who wait: a latch that is not there is
open.`,
		Example: "  bedrock latch set import/42 3",
		Args:    wants("NAME", "COUNT"),
		RunE: func(c *cobra.Command, args []string) error {
			count, err := countOf("COUNT", args[1])
			if err != nil {
				return err
			}
			return sys.askLatch(c.Context(), args[0], func(ctx context.Context, l *latch.Latch) error {
				set, err := l.Set(ctx, count)
				if err != nil {
					return err
				}
				if sys.output == formatJSON {
					return writeJSON(sys.stdout, latchSet{args[0], set})
				}
				state := "set to " + args[1]
				if !set {
					state = "has a count already"
				}
				_, err = fmt.Fprintln(sys.stdout, args[0], state)
				return err
			})
		},
	}
}

func newLatchDown(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:   "down NAME [N]",
		Short: "Count a latch down, by 1 or by N",
		Long: `Count the latch NAME down, by 1 or by N, and print what is left. At zero it is open.
If less than that is left nothing is taken, and the exit code is 1.`,
		Example: "  bedrock latch down import/42\n  bedrock latch down import/42 2",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return wants("NAME")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			by := 1
			if len(args) == 2 {
				var err error
				if by, err = countOf("N", args[1]); err != nil {
					return err
				}
			}
			return sys.askLatch(c.Context(), args[0], func(ctx context.Context, l *latch.Latch) error {
				left, err := l.CountDownBy(ctx, by)
				if err != nil {
					return err
				}
				return sys.printLatch(latchView{args[0], left})
			})
		},
	}
}

func newLatchShow(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Print what is left of a latch's count",
		Example: "  bedrock latch show import/42 -o json",
		Args:    wants("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return sys.askLatch(c.Context(), args[0], func(ctx context.Context, l *latch.Latch) error {
				left, err := l.Count(ctx)
				if err != nil {
					return err
				}
				view := latchView{args[0], left}
				if sys.output == formatJSON {
					return sys.printLatch(view)
				}
				return writeTable(sys.stdout, view.rows())
			})
		},
	}
}

// latchDropped is the answer of latch drop.
type latchDropped struct {
	Name    string `json:"name"`
	Dropped bool   `json:"dropped"`
}

func newLatchDrop(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:     "drop NAME",
		Short:   "Open a latch, whatever is left of its count",
		Example: "  bedrock latch drop import/42",
		Args:    wants("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return sys.askLatch(c.Context(), args[0], func(ctx context.Context, l *latch.Latch) error {
				dropped, err := l.Drop(ctx)
				if err != nil {
					return err
				}
				if sys.output == formatJSON {
					return writeJSON(sys.stdout, latchDropped{args[0], dropped})
				}
				state := "dropped"
				if !dropped {
					state = "was not there"
				}
				_, err = fmt.Fprintln(sys.stdout, args[0], state)
				return err
			})
		},
	}
}

// countError says of a negative count, which looks like a flag, what is wrong with it.
func countError(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return flagError(c, err)
	}
	count := "-" + unknown.GetSpecifiedShortnames()
	if _, err := strconv.Atoi(count); err != nil {
		return flagError(c, unknown)
	}
	return fmt.Errorf("the count is %s, and cannot be negative", count)
}

// countOf reads a count that was typed as that argument.
func countOf(argument, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, &exitError{exitUsage, fmt.Errorf("%s is %.40q, want a number", argument, text)}
	}
	return n, nil
}

// askLatch is askBackend about one latch.
func (s *system) askLatch(
	ctx context.Context, name string, question func(context.Context, *latch.Latch) error,
) error {
	if err := s.refuseSeveral(); err != nil {
		return err
	}
	return s.askBackend(ctx, func(ctx context.Context, session *lockurl.Session) error {
		return question(ctx, latch.New(session.Client, name, nil))
	})
}
