package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// findingView is a finding as doctor prints it.
type findingView struct {
	Level string `json:"level"`
	What  string `json:"what"`
	Means string `json:"means"`
}

// String returns the lines people read.
func (v findingView) String() string {
	text := fmt.Sprintf("%-8s %s\n", v.Level, v.What)
	if v.Means != "" {
		text += fmt.Sprintf("%-8s %s\n", "", v.Means)
	}
	return text
}

func newDoctor(sys *system) *cobra.Command {
	return sys.onBackend(&cobra.Command{
		Use:   "doctor",
		Short: "Check the backend's settings and say what they mean for safety",
		Long: `Check the backend's settings and say what they mean for the safety of locks.
Nothing is changed. The exit code is 1 when there is a danger, such as a right that the
account lacks, and 69 when the backend does not answer, or lets nobody in.`,
		Example: "  bedrock doctor --backend redis://localhost:6379\n  bedrock doctor -o json",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return sys.askBackend(c.Context(), func(ctx context.Context, s *lockurl.Session) error {
				findings, err := s.Check(ctx)
				if err != nil {
					return err
				}
				return errors.Join(sys.printFindings(findings), dangerError(findings))
			})
		},
	})
}

func (s *system) printFindings(findings []driver.Finding) error {
	views := make([]findingView, len(findings))
	for i, f := range findings {
		views[i] = findingView{f.Level.String(), f.What, f.Means}
	}
	if s.output == formatJSON {
		return writeJSON(s.stdout, views)
	}
	for _, v := range views {
		if _, err := fmt.Fprint(s.stdout, v); err != nil {
			return err
		}
	}
	if len(views) == 0 {
		_, err := fmt.Fprintln(s.stdout, "ok       nothing to object to")
		return err
	}
	return nil
}

// dangerError is an error when there is a danger.
func dangerError(findings []driver.Finding) error {
	for _, f := range findings {
		if f.Level == driver.Danger {
			return &exitError{code: exitFailed}
		}
	}
	return nil
}
