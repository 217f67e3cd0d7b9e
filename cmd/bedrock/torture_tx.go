package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/torture/txns"
)

// tortureTxFlags are those of torture tx.
type tortureTxFlags struct {
	tortureFlags

	store   string
	clients int
}

func newTortureTx(sys *system) *cobra.Command {
	var flags tortureTxFlags
	c := &cobra.Command{
		Use:   "tx",
		Short: "Torture transactions on a store, or on one started for it",
		Long: `Torture transactions: clients move money between accounts, which a service of this run
keeps in a SQLite file, with sagas, TCC and messages, some of which are to fail, to be too
late, to be parked, or come in crowds. Two coordinators (on SQLite one) drive them on the
store: one that is yours (--store), to which only the ways are broken, or one that is
started and broken as well (--start):

  sqlite    a file, on a disk that is full at times
  postgres, mariadb, redis

Afterwards the money is counted, every effect is compared with the outcome, and every
outcome with what the client was told. Give it a database of its own: its transactions
stay there, as any others do.`,
		Example: `  bedrock torture tx --start sqlite --for 30s
  bedrock torture tx --store postgres://bedrock@test-db/torture --for 10m`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return sys.tortureTx(c.Context(), &flags) },
	}
	flags.register(c, "sqlite, postgres, mariadb or redis")
	c.Flags().StringVar(&flags.store, "store", "", "URL of the store (default $BEDROCK_STORE)")
	c.Flags().IntVar(&flags.clients, "clients", 16, "clients at once, besides crowds")
	return c
}

func (s *system) tortureTx(ctx context.Context, f *tortureTxFlags) error {
	p := &txns.Plan{Store: f.store, Start: f.start, For: f.duration, Clients: f.clients, Progress: s.stderr}
	if f.start == "" {
		p.Store = cmp.Or(f.store, s.getenv("BEDROCK_STORE"))
	}
	err := p.Check()
	if err == nil && (f.clients < 1 || f.clients > tortureHandsMost) {
		err = fmt.Errorf("--clients is %d, allowed are 1 to %d", f.clients, tortureHandsMost)
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if err := f.fillIn("tx"); err != nil {
		return err
	}
	if p.Program, err = self("tx"); err != nil {
		return err
	}
	p.Dir, p.Seed = f.dir, f.seed
	fmt.Fprintf(s.stderr, "torturing transactions for %s, seed %d, history in %s\n", f.duration, f.seed, f.dir)
	r, err := txns.Run(ctx, p)
	if err != nil {
		return err
	}
	return s.judged(r, &f.tortureFlags)
}
