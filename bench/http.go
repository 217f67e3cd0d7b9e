package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/httpclients"
)

// parseHTTP reads the flags of bench http.
func parseHTTP(args []string) (*httpclients.Suite, error) {
	s := &httpclients.Suite{
		Rounds: 9, Length: 2 * time.Second,
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	}
	flags := flag.NewFlagSet("bench http", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "end within 90 seconds, with coarser figures")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *quick {
		s.Rounds, s.Length = 5, 400*time.Millisecond
	}
	return s, nil
}

// runHTTP measures clients of HTTP, and prints what it found.
func runHTTP(ctx context.Context, args []string) error {
	s, err := parseHTTP(args)
	if err != nil {
		return err
	}
	if err := writeMachine(os.Stderr, "fasthttp", "connect"); err != nil {
		return err
	}
	findings := httpclients.Examine(ctx, httpclients.Candidates())
	rows, err := s.Run(ctx)
	if err != nil {
		return errors.Join(err, complete(ctx))
	}
	return errors.Join(httpclients.WriteRows(os.Stdout, rows), httpclients.WriteFindings(os.Stdout, findings))
}
