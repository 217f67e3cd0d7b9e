package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
)

// intervention is a command that steers transactions.
type intervention struct {
	action txn.Action
	use    string
	short  string
	long   string
	grave  bool // nothing brings back what it takes away
}

func interventions() []intervention {
	return []intervention{
		{txn.ActRetry, "retry", "Call again now what waits to be called", "", false},
		{txn.ActPark, "park", "Stop a transaction until somebody resumes it", "", false},
		{txn.ActResume, "resume", "Let a parked transaction go on, with its attempts renewed", "", false},
		{
			txn.ActCompensate, "compensate", "Roll back a transaction that is not decided",
			"Decide to roll back a transaction that is open or running; what was done is undone.", false,
		},
		{
			txn.ActAbandon, "abandon", "End a parked transaction in doubt",
			"End a parked transaction in doubt: nobody is called any more, and whatever was done stays done.", true,
		},
		{txn.ActRemove, "rm", "Delete final transactions", "Delete the records of final transactions.", true},
	}
}

// otherWords is what the API calls it, where that is another word.
func (i *intervention) otherWords() []string {
	if string(i.action) == i.use {
		return nil
	}
	return []string{string(i.action)}
}

func newTxAct(r *remote, what intervention) *cobra.Command {
	var reason string
	var force bool
	c := &cobra.Command{
		Use:   what.use + " ID…",
		Short: what.short,
		Long:  what.long,
		Example: fmt.Sprintf("  bedrock tx %s order-42 --reason 'asked for by the customer'%s",
			what.use, forceFlag(what.grave)),
		Args:              wants("ID…"),
		ValidArgsFunction: r.completeIDs,
		Aliases:           what.otherWords(),
		RunE: func(c *cobra.Command, ids []string) error {
			switch {
			case reason == "":
				return &exitError{exitUsage, errors.New("--reason is missing; it is recorded")}
			case what.grave && !force:
				return &exitError{
					exitUsage, fmt.Errorf("%s cannot be taken back; give --force if that is meant", what.use),
				}
			}
			if err := check.Reason(reason); err != nil {
				return err
			}
			return r.askServer(c.Context(), func(ctx context.Context, c *client.Client) error {
				return r.sys.act(ctx, c, what, ids, reason)
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why; it is recorded with the transaction or in the server's log")
	if what.grave {
		c.Flags().BoolVar(&force, "force", false, "do what cannot be taken back")
	}
	return c
}

func forceFlag(grave bool) string {
	if grave {
		return " --force"
	}
	return ""
}

// act intervenes in one transaction after the other, and goes on after a refusal.
func (s *system) act(ctx context.Context, c *client.Client, what intervention, ids []string, reason string) error {
	var first error
	for _, id := range ids {
		err := c.Act(ctx, id, what.action, reason)
		if err == nil {
			fmt.Fprintf(s.stdout, "%s: %s\n", id, what.action)
			continue
		}
		if first != nil {
			fmt.Fprintln(s.stderr, "bedrock:", err)
			continue
		}
		first = err
	}
	return first
}
