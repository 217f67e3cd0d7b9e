package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/txbench"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/internal/storeurl"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// The limits of a measurement: it must not bring down what it measures.
const (
	benchCallersMost  = 4096
	benchBranchesMost = 100
)

// benchTxFlags are those of bench tx.
type benchTxFlags struct {
	store             string
	callers, branches int
	duration          time.Duration
}

func newBenchTx(sys *system) *cobra.Command {
	var flags benchTxFlags
	r := &remote{sys: sys}
	c := &cobra.Command{
		Use:   "tx",
		Short: "Measure transactions: rate, and how long one takes",
		Long: `Measure sagas whose branches do nothing: on the server given by --server or
BEDROCK_SERVER, or else in this process, on the store given by --store or on a new
SQLite file. Each caller waits for one outcome before it submits the next.

The transactions, called bedrock-bench, stay in the store as any others do.`,
		Example: `  bedrock bench tx
  bedrock bench tx --server http://127.0.0.1:7700 --clients 64 --duration 10s`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := flags.check(); err != nil {
				return &exitError{exitUsage, err}
			}
			if r.server != "" || flags.store == "" && sys.getenv("BEDROCK_SERVER") != "" {
				return r.talk(c.Context(), -1, func(ctx context.Context, c *client.Client) error {
					return sys.benchTx(ctx, &flags, c)
				})
			}
			return sys.benchHere(c.Context(), &flags)
		},
	}
	r.register(c)
	f := c.Flags()
	f.StringVar(&flags.store, "store", "", "URL of a store to measure in this process")
	f.IntVar(&flags.callers, "clients", 64, "callers at once")
	f.IntVar(&flags.branches, "branches", 2, "branches of each saga")
	f.DurationVar(&flags.duration, "duration", 5*time.Second, "how long to measure")
	return c
}

func (f *benchTxFlags) check() error {
	switch {
	case f.callers < 1 || f.callers > benchCallersMost:
		return fmt.Errorf("--clients is %d, allowed are 1 to %d", f.callers, benchCallersMost)
	case f.branches < 1 || f.branches > benchBranchesMost:
		return fmt.Errorf("--branches is %d, allowed are 1 to %d", f.branches, benchBranchesMost)
	case f.duration <= 0 || f.duration > benchDurationMost:
		return fmt.Errorf("--duration is %s, allowed is up to %s", f.duration, benchDurationMost)
	}
	return nil
}

// benchHere measures an engine in this process.
func (s *system) benchHere(ctx context.Context, flags *benchTxFlags) error {
	url := flags.store
	if url == "" {
		dir, err := os.MkdirTemp("", "bedrock-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		url = "sqlite:" + filepath.Join(dir, "bench.db")
	}
	location, err := storeurl.Parse(url)
	if err != nil {
		return err
	}
	store, err := location.Open(ctx, &storeurl.Options{AllowVolatile: true})
	if err != nil {
		return &exitError{exitUnavailable, err}
	}
	return errors.Join(s.benchOn(ctx, flags, store), store.Close())
}

func (s *system) benchOn(ctx context.Context, flags *benchTxFlags, store driver.Store) error {
	engine, err := coord.New(store, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(daemon.RegisterSamples(engine), engine.Start(ctx)); err != nil {
		return err
	}
	err = fromServer(s.benchTx(ctx, flags, engine))
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	return errors.Join(err, engine.Stop(stopping))
}

func (s *system) benchTx(ctx context.Context, flags *benchTxFlags, co txn.Coordinator) error {
	d, err := benchSaga(flags.branches)
	if err != nil {
		return err
	}
	if _, err := co.Run(ctx, d); err != nil {
		return err // nothing to measure
	}
	fmt.Fprintf(s.stderr, "measuring for %s\n", flags.duration)
	result := txbench.Run(ctx, txbench.Plan{
		Coordinator: co, Definition: d, Callers: flags.callers, Duration: flags.duration,
	})
	if result.Committed == 0 && result.Err != nil {
		return result.Err
	}
	if s.output == formatJSON {
		return writeJSON(s.stdout, result)
	}
	_, err = fmt.Fprint(s.stdout, result)
	return err
}

func benchSaga(branches int) (txn.Definition, error) {
	s := saga.New("bedrock-bench")
	for i := range branches {
		s.Step(fmt.Sprintf("step-%d", i+1), "demo.echo", "demo.echo")
	}
	return s.Definition(map[string]int{"order": 42})
}
