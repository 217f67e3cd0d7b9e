package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/bench/internal/locks"
	"github.com/bedrock-go/bedrock/bench/internal/report"
	"github.com/bedrock-go/bedrock/bench/internal/stores"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// settings are the flags of bench locks.
type settings struct {
	redis, output, workloads, subjects, profile, dir string

	stores []subject.Store
	quick  bool
}

// parse reads the flags.
func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("bench locks", flag.ContinueOnError)
	store := flags.String("store", "redis", "measure locks in `STORE,STORE`, or in all: "+
		"redis, etcd, zookeeper, postgres, mariadb, sqlite")
	flags.StringVar(&s.redis, "redis", "", "`HOST:PORT,…` of Redis servers; all but the first for locks on several")
	flags.BoolVar(&s.quick, "quick", false, "coarser figures: within 45 seconds on Redis, some minutes elsewhere")
	flags.StringVar(&s.output, "o", "table", "output: `table, json or markdown`")
	flags.StringVar(&s.workloads, "workloads", "", "measure only these, `NAME,NAME`")
	flags.StringVar(&s.subjects, "subjects", "", "measure only these, `NAME,NAME`")
	flags.StringVar(&s.dir, "dir", "", "`FOLDER` for the stores' data; it should be on a disk")
	flags.StringVar(&s.profile, "profile", "", "write CPU profiles of the workers to `FOLDER`")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if !slices.Contains([]string{"table", "json", "markdown"}, s.output) {
		return s, fmt.Errorf("-o %q: want table, json or markdown", s.output)
	}
	return s, s.chooseStores(*store)
}

// chooseStores reads the names of stores.
func (s *settings) chooseStores(names string) error {
	if names == "all" {
		s.stores = subject.Stores()
	} else {
		for _, name := range list(names) {
			store, err := subject.FindStore(name)
			if err != nil {
				return fmt.Errorf("-store: %w", err)
			}
			s.stores = append(s.stores, store)
		}
	}
	if len(s.stores) == 0 {
		return errors.New("-store: want one at least")
	}
	if s.redis != "" && !slices.Contains(s.stores, subject.Redis) {
		return errors.New("-redis: redis is not measured")
	}
	return nil
}

// runLocks measures locks and prints what it found.
func runLocks(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	var (
		outcomes []*locks.Outcome
		errs     []error
	)
	for _, store := range s.stores {
		if ctx.Err() != nil {
			break
		}
		found, err := s.measureStore(ctx, store)
		outcomes = append(outcomes, found...)
		errs = append(errs, err)
	}
	if len(outcomes) > 0 {
		errs = append(errs, s.print(report.Rows(outcomes)))
	}
	return errors.Join(append(errs, failures(outcomes))...)
}

// measureStore measures one store, whose server runs meanwhile.
func (s settings) measureStore(ctx context.Context, store subject.Store) ([]*locks.Outcome, error) {
	server, err := s.startStore(ctx, store)
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	if err := writeCircumstances(os.Stderr, server); err != nil {
		return nil, err
	}
	limited := ctx
	if s.quick {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, locks.QuickLimit(store))
		defer cancel()
	}
	suite := s.suite()
	suite.Store, suite.Addr, suite.More, suite.Server = store, server.Addr, server.More, server.Process
	outcomes := suite.Run(limited)
	return outcomes, complete(limited)
}

// startStore starts a store, or finds the one that runs.
func (s settings) startStore(ctx context.Context, store subject.Store) (*stores.Server, error) {
	addrs := list(s.redis)
	if store != subject.Redis || len(addrs) == 0 {
		return stores.Start(ctx, store, s.dir)
	}
	return stores.FindRedis(ctx, addrs)
}

// complete reports whether ctx lasted until everything was measured.
func complete(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stopped before everything was measured: %w", err)
	}
	return nil
}

// suite returns the run the settings ask for, without servers.
func (s settings) suite() *locks.Suite {
	return &locks.Suite{
		Quick: s.quick, Profile: s.profile,
		Workloads: list(s.workloads), Subjects: list(s.subjects),
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	}
}

// print writes rows to the standard output.
func (s settings) print(rows []*report.Row) error {
	switch s.output {
	case "json":
		return report.JSON(os.Stdout, rows)
	case "markdown":
		return report.Markdown(os.Stdout, rows, report.Verdicts(rows))
	}
	return errors.Join(report.Table(os.Stdout, rows), report.WriteVerdicts(os.Stdout, report.Verdicts(rows)))
}

// failures returns what could not be measured at all.
func failures(outcomes []*locks.Outcome) error {
	var errs []error
	for _, o := range outcomes {
		if len(o.Samples) == 0 && o.Err != nil {
			errs = append(errs, fmt.Errorf("%s of %s: %w", o.Workload.Name, o.Subject.Name, o.Err))
		}
	}
	return errors.Join(errs...)
}

// list splits at commas; empty text is an empty list.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}
