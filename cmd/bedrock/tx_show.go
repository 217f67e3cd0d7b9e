package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/txview"
	"github.com/bedrock-go/bedrock/txn"
)

func newTxShow(r *remote) *cobra.Command {
	return &cobra.Command{
		Use:               "show ID",
		Short:             "Show a transaction: its state, its branches, and every attempt",
		Example:           "  bedrock tx show order-42\n  bedrock tx show order-42 -o json",
		Args:              wants("ID"),
		ValidArgsFunction: r.completeID,
		RunE: func(c *cobra.Command, args []string) error {
			return r.ask(c.Context(), func(ctx context.Context, c *client.Client) error {
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
	view := txview.Of(t)
	if s.output == formatJSON {
		return writeJSON(s.stdout, view)
	}
	for _, rows := range [][][]string{factRows(t), branchRows(&view), attemptRows(t)} {
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
	for _, fact := range [][]string{{"reason", t.Reason}, {"parked", t.Parked}, {"waits for", t.Waits}, {"owner", t.Owner}} {
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

func branchRows(v *txview.Transaction) [][]string {
	rows := [][]string{{"BRANCH", "PHASE", "PARTICIPANT", "STATE", "CALLS", "NOTE"}}
	for _, b := range v.Branches {
		for _, op := range b.Operations {
			rows = append(rows, []string{
				dash(b.ID), string(op.Phase), string(op.Target), op.State, strconv.Itoa(op.Calls), dash(oneLine(op.Note)),
			})
		}
	}
	return rows
}

func attemptRows(t *txn.Transaction) [][]string {
	if len(t.Attempts) == 0 {
		return nil
	}
	rows := [][]string{{"AFTER", "BRANCH", "OPERATION", "NO.", "ANSWER", "TOOK", "SAID", "BY"}}
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
	after, answer := fine(a.At.Sub(t.Created)), a.Answer
	if n := a.Times(); n > 1 {
		after += "…" + fine(a.Last().Sub(t.Created))
		answer += " ×" + strconv.Itoa(n)
	}
	return []string{after, dash(a.Branch), a.Op, number, answer, took, dash(oneLine(a.Excerpt)), dash(a.By)}
}

// fine is a duration as exactly as people care for in the course of a transaction.
func fine(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// oneLine makes a text fit into a table, whatever a participant has put into it:
// control characters could rewrite the terminal.
func oneLine(text string) string {
	const most = 120
	line := []rune(strings.Map(printable, text))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}
