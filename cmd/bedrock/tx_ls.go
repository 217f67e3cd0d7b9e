package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// txFilter is what tx ls lists.
type txFilter struct {
	status             []string
	mode, name, prefix string
	parked             bool
	limit              int
}

func newTxLs(r *remote) *cobra.Command {
	var f txFilter
	c := &cobra.Command{
		Use:   "ls",
		Short: "List transactions, newest first",
		Long: "List transactions, newest first. NOTE says why one is parked, or which target it waits for;\n" +
			"why one was rolled back is in bedrock tx show ID.",
		Example: "  bedrock tx ls\n  bedrock tx ls --parked\n" +
			"  bedrock tx ls --status running --status rolling-back -o json",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.limit < 1 {
				return &exitError{exitUsage, fmt.Errorf("--limit is %d, the least is 1", f.limit)}
			}
			return r.askServer(c.Context(), func(ctx context.Context, c *client.Client) error {
				found, more, err := f.list(ctx, c)
				if err != nil {
					return err
				}
				if more {
					fmt.Fprintf(r.sys.stderr, "bedrock: note: there are more than the %d shown; see --limit\n", f.limit)
				}
				return r.sys.printTransactions(found)
			})
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.status, "status", nil,
		"only those that are open, running, committing, rolling-back, committed, rolled-back or in-doubt")
	flags.StringVar(&f.mode, "mode", "", "only those of this mode: "+strings.Join(modes.Names(), ", "))
	flags.StringVar(&f.name, "name", "", "only those of exactly this name")
	flags.StringVar(&f.prefix, "prefix", "", "only those whose IDs begin so")
	flags.BoolVar(&f.parked, "parked", false, "only those that wait for a person")
	flags.IntVar(&f.limit, "limit", 100, "list at most this many")
	return c
}

// list asks for one page after another.
func (f *txFilter) list(ctx context.Context, c *client.Client) (found []*txn.Transaction, more bool, err error) {
	q := txn.Query{Mode: f.mode, Name: f.name, Prefix: f.prefix, Parked: f.parked}
	for _, s := range f.status {
		q.Status = append(q.Status, txn.Status(s))
	}
	for {
		q.Limit = min(f.limit-len(found), txn.MaxPage)
		page, err := c.List(ctx, q)
		if err != nil {
			return nil, false, err
		}
		found = append(found, page.Transactions...)
		if page.Next.ID == "" || len(found) >= f.limit {
			return found, page.Next.ID != "", nil
		}
		q.Before = page.Next
	}
}

func (s *system) printTransactions(found []*txn.Transaction) error {
	if s.output == formatJSON {
		all := make([]json.RawMessage, len(found))
		for i, t := range found {
			all[i] = asJSON(apiwire.Transaction(t))
		}
		return writeJSON(s.stdout, all)
	}
	rows := [][]string{{"ID", "NAME", "MODE", "STATUS", "CREATED", "TOOK", "NOTE"}}
	for _, t := range found {
		rows = append(rows, []string{
			t.ID, dash(oneLine(t.Name)), t.Mode, string(t.Status), t.Created.Local().Format(time.DateTime),
			tookOf(t).String(), oneLine(noteOf(t)),
		})
	}
	return writeTable(s.stdout, rows)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// tookOf is how long a transaction has lasted, as exactly as people care for.
func tookOf(t *txn.Transaction) time.Duration {
	end := t.Finished
	if end.IsZero() {
		end = time.Now()
	}
	d := max(end.Sub(t.Created), 0)
	if d < time.Second {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(100 * time.Millisecond)
}

// noteOf says why a transaction does not go on, or was rolled back, which is not in lists.
func noteOf(t *txn.Transaction) string {
	switch {
	case t.Parked != "":
		return "parked: " + t.Parked
	case t.Waits != "":
		return "waits for " + t.Waits
	default:
		return dash(t.Reason)
	}
}
