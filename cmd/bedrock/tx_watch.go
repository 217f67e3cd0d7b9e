package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/txn"
)

func newTxWatch(r *remote) *cobra.Command {
	return &cobra.Command{
		Use:   "watch ID",
		Short: "Print what happens to a transaction until it is final",
		Long: `Print what happens to a transaction until it is final or the command is interrupted.
The exit code tells the outcome, and 130 that there was none yet; see 'bedrock help exit-codes'.`,
		Example:           "  bedrock tx watch order-42\n  bedrock tx watch order-42 -o json",
		Args:              wants("ID"),
		ValidArgsFunction: r.completeID,
		RunE: func(c *cobra.Command, args []string) error {
			return r.talk(c.Context(), 0, func(ctx context.Context, c *client.Client) error {
				return r.sys.watchTransaction(ctx, c, args[0])
			})
		},
	}
}

func (s *system) watchTransaction(ctx context.Context, c *client.Client, id string) error {
	var seen txSeen
	for t, err := range c.Watch(ctx, id) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err() // no outcome: 0 would say that it is committed
		case err != nil:
			return err
		}
		if err := s.printChange(&seen, t); err != nil {
			return err
		}
		if t.Status.Final() {
			return t.Result().Err()
		}
	}
	return ctx.Err()
}

// txSeen is what tx watch has printed.
type txSeen struct {
	attempts map[txAttempt]int // how many calls each entry stood for
	state    string
}

// txAttempt tells entries apart, also when equal calls are added to them.
type txAttempt struct {
	branch, op string
	began      time.Time
}

func (s *system) printChange(seen *txSeen, t *txn.Transaction) error {
	if s.output == formatJSON {
		return writeLine(s.stdout, asJSON(apiwire.Transaction(t)))
	}
	attempts := make(map[txAttempt]int, len(t.Attempts))
	for i := range t.Attempts {
		a := &t.Attempts[i]
		entry := txAttempt{a.Branch, a.Op, a.At.UTC()}
		if attempts[entry] = a.Times(); a.Times() <= seen.attempts[entry] {
			continue
		}
		line := fmt.Sprintf("%s  %s\n",
			a.Last().Local().Format("15:04:05.000"), strings.Join(attemptRow(t, i)[1:], "  "))
		if _, err := fmt.Fprint(s.stdout, line); err != nil {
			return err
		}
	}
	state := string(t.Status)
	if note := noteOf(t); note != "-" {
		state += ": " + oneLine(note)
	}
	changed := state != seen.state
	seen.attempts, seen.state = attempts, state
	if !changed {
		return nil
	}
	_, err := fmt.Fprintf(s.stdout, "%s  %s %s\n", time.Now().Format("15:04:05.000"), t.ID, state)
	return err
}
