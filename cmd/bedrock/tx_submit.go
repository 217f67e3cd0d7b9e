package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
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
		Example: "  bedrock tx submit order.yaml\n  bedrock tx submit order.yaml --id order-42 --wait\n" +
			"  generate-order | bedrock tx submit -",
		Args: wants("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := r.sys.readDefinition(args[0])
			if err != nil {
				return &exitError{exitUsage, err}
			}
			d := f.Definition
			if c.Flags().Changed("id") { // also by "": whose ID was forgotten may submit twice
				if err := setID(&d, id); err != nil {
					return err
				}
			}
			return r.talk(c.Context(), -1, func(ctx context.Context, c *client.Client) error {
				return f.Locate(r.submitAndPrint(ctx, c, d, wait))
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "ID of the transaction, instead of the file's or one made up")
	c.Flags().BoolVar(&wait, "wait", false, "wait for the outcome")
	return c
}

func (s *system) readDefinition(name string) (*deffile.File, error) {
	in := io.Reader(s.stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, fileMost+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > fileMost:
		return nil, fmt.Errorf("%s: longer than %d bytes", name, fileMost)
	}
	f, err := deffile.Read(name, text)
	if err != nil {
		return nil, err
	}
	return f, f.Check()
}

// setID gives a transaction the ID of the command line.
func setID(d *txn.Definition, id string) error {
	d.ID = id
	err := check.New(check.Limits{}).ID(id)
	if wrong, ok := errors.AsType[*txn.InvalidError](err); ok {
		return &exitError{exitUsage, errors.New("--id: " + wrong.Problem)}
	}
	return err
}

// submitAndPrint prints the ID as soon as there is one: whatever happens to the wait, the
// transaction can then be found.
func (r *remote) submitAndPrint(ctx context.Context, c *client.Client, d txn.Definition, wait bool) error {
	s := r.sys
	id, err := submitSoon(ctx, c, d)
	if err != nil {
		s.sayWhereToLook(err)
		return err
	}
	if !wait {
		return s.printSubmitted(id)
	}
	if s.output == formatTable {
		fmt.Fprintln(s.stdout, id)
	}
	result, err := r.awaitOutcome(ctx, id)
	if errors.Is(err, context.Canceled) {
		s.sayWhereToLook(err)
		return &exitError{code: exitInterrupted} // submitted it is, and that its outcome is not known yet was said
	}
	return errors.Join(s.printResult(&result, err), err)
}

// awaitOutcome has the patience that a question to the server has not: one that restarts goes
// on with the transaction.
func (r *remote) awaitOutcome(ctx context.Context, id string) (txn.Result, error) {
	c, err := r.dial(0)
	if err != nil {
		return txn.Result{ID: id, Outcome: txn.InDoubt}, err
	}
	defer c.Close()
	return c.Wait(ctx, id)
}

// submitSoon gives up when the server's store stays away: the submit is in doubt then.
func submitSoon(ctx context.Context, c *client.Client, d txn.Definition) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return c.Submit(ctx, d)
}

// sayWhereToLook does so when somebody stops waiting: the transaction does not stop with the
// command.
func (s *system) sayWhereToLook(err error) {
	var inDoubt *txn.InDoubtError
	if errors.Is(err, context.Canceled) && errors.As(err, &inDoubt) {
		fmt.Fprintf(s.stderr, "bedrock: no longer waiting; see 'bedrock tx watch %s'\n", inDoubt.ID)
	}
}

func (s *system) printSubmitted(id string) error {
	if s.output == formatJSON {
		return writeJSON(s.stdout, asJSON(&bedrockv1.SubmitResponse{Id: id}))
	}
	_, err := fmt.Fprintln(s.stdout, id)
	return err
}

// printResult prints what a wait has brought; what it has not brought is an error.
func (s *system) printResult(result *txn.Result, err error) error {
	if s.output == formatJSON {
		m, err := apiwire.Result(result.ID, *result, err)
		if err != nil {
			m = &bedrockv1.Result{Id: result.ID, Outcome: string(txn.InDoubt)}
		}
		return writeJSON(s.stdout, asJSON(m))
	}
	fmt.Fprintln(s.stdout, result.Outcome)
	var rows [][]string
	for branch, returned := range result.Returned {
		rows = append(rows, []string{"  " + branch, oneLine(string(returned))})
	}
	slices.SortFunc(rows, slices.Compare)
	return writeTable(s.stdout, rows)
}
