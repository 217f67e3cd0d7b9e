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
	"github.com/bedrock-go/bedrock/bench/internal/redisd"
	"github.com/bedrock-go/bedrock/bench/internal/report"
)

// servers is how many Redis servers are started: as many as any subject needs.
const servers = 5

// settings are the flags of bench locks.
type settings struct {
	redis, output, workloads, subjects, profile string
	quick                                       bool
}

// parse reads the flags.
func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("bench locks", flag.ContinueOnError)
	flags.StringVar(&s.redis, "redis", "", "`HOST:PORT,…` of Redis servers; all but the first for locks on several")
	flags.BoolVar(&s.quick, "quick", false, "end within 45 seconds, with coarser figures")
	flags.StringVar(&s.output, "o", "table", "output: `table, json or markdown`")
	flags.StringVar(&s.workloads, "workloads", "", "measure only these, `NAME,NAME`")
	flags.StringVar(&s.subjects, "subjects", "", "measure only these, `NAME,NAME`")
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
	return s, nil
}

// runLocks measures locks and prints what it found.
func runLocks(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.quick {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, locks.QuickLimit)
		defer cancel()
	}
	suite := s.suite()
	if addrs := list(s.redis); len(addrs) > 0 {
		suite.Redis, suite.More = addrs[0], addrs[1:]
	} else {
		servers, err := redisd.StartGroup(ctx, servers)
		if err != nil {
			return err
		}
		defer servers.Stop()
		addrs := servers.Addrs()
		suite.Redis, suite.More, suite.Server = addrs[0], addrs[1:], servers[0].Process()
	}
	if err := writeCircumstances(ctx, os.Stderr, suite.Redis); err != nil {
		return err
	}
	outcomes := suite.Run(ctx)
	return errors.Join(s.print(report.Rows(outcomes)), failures(outcomes), complete(ctx))
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
