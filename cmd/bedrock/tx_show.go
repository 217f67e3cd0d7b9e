package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

func newTxShow(r *remote) *cobra.Command {
	return &cobra.Command{
		Use:               "show ID",
		Short:             "Show a transaction: its state, its branches, and every attempt",
		Example:           "  bedrock tx show order-42\n  bedrock tx show order-42 -o json",
		Args:              wants("ID"),
		ValidArgsFunction: r.completeID,
		RunE: func(c *cobra.Command, args []string) error {
			return r.askServer(c.Context(), func(ctx context.Context, c *client.Client) error {
				t, err := c.Get(ctx, args[0])
				if err != nil {
					return err
				}
				return r.sys.printTransaction(t)
			})
		},
	}
}

func (s *system) printTransaction(t *txn.Transaction) error {
	if s.output == formatJSON {
		return writeJSON(s.stdout, asJSON(apiwire.Transaction(t)))
	}
	for _, rows := range [][][]string{factRows(t), branchRows(t), attemptRows(t)} {
		if len(rows) == 0 {
			continue
		}
		if err := writeTable(s.stdout, rows); err != nil {
			return err
		}
		fmt.Fprintln(s.stdout)
	}
	return nil
}

func factRows(t *txn.Transaction) [][]string {
	rows := [][]string{
		{"id", t.ID},
		{"name", dash(oneLine(t.Name))},
		{"mode", t.Mode},
		{"status", string(t.Status)},
		{"created", t.Created.Local().Format(time.RFC3339Nano)},
		{"took", tookOf(t).String()},
	}
	for _, fact := range [][]string{
		{"reason", t.Reason}, {"parked", t.Parked}, {"waits for", t.Waits}, {"owner", t.Owner},
	} {
		if fact[1] != "" {
			rows = append(rows, []string{fact[0], oneLine(fact[1])})
		}
	}
	if !t.Due.IsZero() && !t.Status.Final() {
		rows = append(rows, []string{"due", t.Due.Local().Format(time.RFC3339Nano)})
	}
	if len(t.Payload) > 0 {
		rows = append(rows, []string{"payload", oneLine(string(t.Payload))})
	}
	return rows
}

func branchRows(t *txn.Transaction) [][]string {
	rows := [][]string{{"BRANCH", "OPERATION", "TARGET", "STATE", "CALLS", "NOTE"}}
	for _, step := range t.Steps() {
		branch := "-"
		if step.Branch >= 0 {
			branch = t.Branches[step.Branch].ID
		}
		rows = append(rows, operationRow(t, branch, step))
	}
	return rows
}

// operationRow tells of one operation, also of one that was not called.
func operationRow(t *txn.Transaction, branch string, step txn.Step) []string {
	var op txn.Op
	if step.Branch < len(t.Progress) {
		op = *t.Op(step)
	}
	state := string(op.State)
	if op.State == txn.Idle {
		state = "not called"
	}
	return []string{
		dash(branch), modes.Word(t.Mode, step.Phase), string(t.Target(step)), state, strconv.Itoa(op.Calls),
		dash(oneLine(op.Note)),
	}
}

func attemptRows(t *txn.Transaction) [][]string {
	if len(t.Attempts) == 0 {
		return nil
	}
	rows := [][]string{{"AT", "BRANCH", "OPERATION", "NO.", "ANSWER", "TOOK", "EXCERPT", "BY"}}
	for i := range t.Attempts {
		rows = append(rows, attemptRow(t, i))
	}
	if t.Dropped > 0 {
		rows = append(rows, []string{fmt.Sprintf("(%d attempts in the middle were not kept)", t.Dropped)})
	}
	return rows
}

func attemptRow(t *txn.Transaction, i int) []string {
	a := &t.Attempts[i]
	number, took := "-", "-"
	if a.Number > 0 {
		number, took = strconv.Itoa(a.Number), fine(a.Took)
	}
	at, answer := fine(a.At.Sub(t.Created)), a.Answer
	if n := a.Times(); n > 1 {
		at += "…" + fine(a.Last().Sub(t.Created))
		answer += " ×" + strconv.Itoa(n)
	}
	return []string{at, dash(a.Branch), a.Op, number, answer, took, dash(oneLine(a.Excerpt)), dash(a.By)}
}

// fine is a duration as exactly as people care for in the course of a transaction.
func fine(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
