package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/report"
	"github.com/bedrock-go/bedrock/bench/internal/txns"
)

// txnSettings are the flags of bench txns.
type txnSettings struct {
	dtm, store, output, workloads, subjects, dir, profile string
	quick                                                 bool
}

// storesOf are what Bedrock keeps transactions in.
func storesOf() []string { return []string{"sqlite", "mariadb", "postgres", "redis"} }

// parseTxns reads the flags.
func parseTxns(args []string) (txnSettings, error) {
	var s txnSettings
	flags := flag.NewFlagSet("bench txns", flag.ContinueOnError)
	flags.StringVar(&s.dtm, "dtm", "",
		"compare with a DTM server that runs at `URL`; STORE=URL,STORE=URL for several, boltdb if not said")
	flags.StringVar(&s.store, "store", "", "`sqlite, mariadb, postgres, redis or all`; default all, sqlite with -quick")
	flags.BoolVar(&s.quick, "quick", false, "end within two minutes, with coarser figures")
	flags.StringVar(&s.output, "o", "table", "output: `table, json or markdown`")
	flags.StringVar(&s.workloads, "workloads", "", "measure only these, `NAME,NAME`")
	flags.StringVar(&s.subjects, "subjects", "", "measure only these, `NAME,NAME`")
	flags.StringVar(&s.dir, "dir", "", "`FOLDER` for the stores' data; it should be on a disk")
	flags.StringVar(&s.profile, "profile", "", "write CPU profiles of the coordinators to `FOLDER`")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if !slices.Contains([]string{"table", "json", "markdown"}, s.output) {
		return s, fmt.Errorf("-o %q: want table, json or markdown", s.output)
	}
	if s.store = cmp.Or(s.store, either(s.quick, "sqlite", "all")); s.store != "all" &&
		!slices.Contains(storesOf(), s.store) {
		return s, fmt.Errorf("-store %q: want sqlite, mariadb, postgres, redis or all", s.store)
	}
	return s, nil
}

// either returns quickly for a quick run and fully for a full one.
func either(quick bool, quickly, fully string) string {
	if quick {
		return quickly
	}
	return fully
}

// runTxns measures transactions and prints what it found.
func runTxns(ctx context.Context, args []string) error {
	s, err := parseTxns(args)
	if err != nil {
		return err
	}
	if s.quick {
		const limit = 2 * time.Minute
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	suite, err := s.suite()
	if err != nil {
		return err
	}
	if err := writeMachine(os.Stderr, "sqlite", "go-sql-driver", "pgx", "go-redis", "connect"); err != nil {
		return err
	}
	outcomes, err := suite.Run(ctx)
	return errors.Join(err, s.print(txns.Rows(outcomes)), txnFailures(outcomes), complete(ctx))
}

// suite returns the run the settings ask for.
func (s txnSettings) suite() (*txns.Suite, error) {
	servers, err := txns.ParseServers(s.dtm)
	if err != nil {
		return nil, fmt.Errorf("-dtm: %w", err)
	}
	chosen := storesOf()
	if s.store != "all" {
		chosen = []string{s.store}
	}
	return &txns.Suite{
		Quick: s.quick, Stores: chosen, DTM: servers, Dir: s.dir, Profile: s.profile,
		Workloads: list(s.workloads), Subjects: list(s.subjects),
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	}, nil
}

// print writes rows to the standard output.
func (s txnSettings) print(rows []*txns.Row) error {
	switch s.output {
	case "json":
		return txns.JSON(os.Stdout, rows)
	case "markdown":
		return txns.Markdown(os.Stdout, rows, txns.Verdicts(rows))
	}
	return errors.Join(txns.Table(os.Stdout, rows), report.WriteVerdicts(os.Stdout, txns.Verdicts(rows)))
}

// txnFailures returns what could not be measured at all.
func txnFailures(outcomes []*txns.Outcome) error {
	var errs []error
	for _, o := range outcomes {
		if len(o.Samples) == 0 && o.Err != nil {
			errs = append(errs, fmt.Errorf("%s of %s: %w", o.Workload.Name, o.Subject.Name, o.Err))
		}
	}
	return errors.Join(errs...)
}
