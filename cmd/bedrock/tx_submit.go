package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/txview"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/deffile"
)

// fileMost is the longest definition read, in bytes.
const fileMost = 16 << 20

func newTxSubmit(r *remote) *cobra.Command {
	var id string
	var wait bool
	c := &cobra.Command{
		Use:   "submit FILE",
		Short: "Submit the transaction that a YAML or JSON file describes",
		Long: `Submit the transaction that a file describes, in YAML or JSON; - reads it from the
standard input.

  mode: saga
  name: order
  timeout: 1m
  steps:
    - id: stock
      action: https://stock.example/deduct
      compensate: https://stock.example/restore
    - id: pay
      action: https://pay.example/charge
      compensate: https://pay.example/refund
  payload: {order: 42}

With an ID, in the file or by --id, submitting the same content again does nothing.
With --wait the exit code tells the outcome; see 'bedrock help exit-codes'.`,
		Example: "  bedrock tx submit order.yaml\n  bedrock tx submit order.yaml --id order-42 --wait\n  generate-order | bedrock tx submit -",
		Args:    wants("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := r.sys.readDefinition(args[0])
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if id != "" {
				d.ID = id
			}
			return r.talk(c.Context(), -1, func(ctx context.Context, c *client.Client) error {
				return r.sys.submit(ctx, c, d, wait)
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "ID of the transaction, instead of the file's or one made up")
	c.Flags().BoolVar(&wait, "wait", false, "wait for the outcome")
	return c
}

func (s *system) readDefinition(name string) (txn.Definition, error) {
	in := io.Reader(s.stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return txn.Definition{}, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, fileMost+1))
	switch {
	case err != nil:
		return txn.Definition{}, err
	case len(text) > fileMost:
		return txn.Definition{}, fmt.Errorf("%s: longer than %d bytes", name, fileMost)
	}
	return deffile.Parse(name, text)
}

// submit prints the ID as soon as there is one: whatever happens to the wait, the
// transaction can then be found.
func (s *system) submit(ctx context.Context, c *client.Client, d txn.Definition, wait bool) error {
	id, err := submitSoon(ctx, c, d)
	if err != nil {
		return s.interrupted(err)
	}
	if !wait {
		return s.printSubmitted(txResult{ID: id})
	}
	if s.output == formatTable {
		fmt.Fprintln(s.stdout, id)
	}
	result, err := c.Wait(ctx, id)
	if errors.Is(err, context.Canceled) {
		return s.interrupted(err)
	}
	return errors.Join(s.printResult(&result), err)
}

// submitSoon gives up when the server's store stays away: the submit is in doubt then.
func submitSoon(ctx context.Context, c *client.Client, d txn.Definition) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return c.Submit(ctx, d)
}

// interrupted says where to look when somebody stops waiting: the transaction does
// not stop with the command.
func (s *system) interrupted(err error) error {
	var inDoubt *txn.InDoubtError
	if errors.Is(err, context.Canceled) && errors.As(err, &inDoubt) {
		fmt.Fprintf(s.stderr, "bedrock: no longer waiting; see 'bedrock tx watch %s'\n", inDoubt.ID)
	}
	return err
}

// txResult is what tx submit prints.
type txResult struct {
	ID       string                 `json:"id"`
	Outcome  txn.Outcome            `json:"outcome,omitempty"`
	Reason   string                 `json:"reason,omitempty"`
	Returned map[string]txview.Body `json:"returned,omitempty"`
}

func (s *system) printSubmitted(r txResult) error {
	if s.output == formatJSON {
		return writeJSON(s.stdout, r)
	}
	_, err := fmt.Fprintln(s.stdout, r.ID)
	return err
}

func (s *system) printResult(result *txn.Result) error {
	r := txResult{ID: result.ID, Outcome: result.Outcome, Reason: result.Reason}
	var rows [][]string
	for branch, returned := range result.Returned {
		if r.Returned == nil {
			r.Returned = make(map[string]txview.Body)
		}
		r.Returned[branch] = returned
		text, _ := json.Marshal(txview.Body(returned)) // it is JSON or becomes it
		rows = append(rows, []string{"  " + branch, oneLine(string(text))})
	}
	if s.output == formatJSON {
		return writeJSON(s.stdout, r)
	}
	fmt.Fprintln(s.stdout, result.Outcome)
	slices.SortFunc(rows, slices.Compare)
	return writeTable(s.stdout, rows)
}
