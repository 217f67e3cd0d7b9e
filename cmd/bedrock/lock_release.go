package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
)

var errNotForced = errors.New("the lock may be in use: " +
	"releasing it lets a second holder in while the first still works; " +
	"say --force if that is what you want")

// released is the answer of lock release.
type released struct {
	Name     string `json:"name"`
	Released bool   `json:"released"`
}

func newLockRelease(sys *system) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "release NAME --force",
		Short: "Take a lock away from its holder",
		Long: `Take a lock away from its holder, whoever that is.

The lock's token is raised, so that a resource that checks tokens refuses the
former holder's writes. A holder that checks nothing goes on working until it is
told, at once if it listens, or until its next renewal. Without --force nothing
happens.`,
		Example:           "  bedrock lock release orders/42 --force",
		Args:              wants("NAME"),
		ValidArgsFunction: sys.completeLock,
		RunE: func(c *cobra.Command, args []string) error {
			if !force {
				return &exitError{exitUsage, errNotForced}
			}
			return sys.askBackend(c.Context(), func(ctx context.Context, s *lockurl.Session) error {
				held, err := s.ForceRelease(ctx, args[0])
				if err != nil {
					return err
				}
				return sys.printReleased(released{args[0], held})
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "yes, release it although somebody may be working under it")
	return c
}

func (s *system) printReleased(r released) error {
	if s.output == formatJSON {
		return writeJSON(s.stdout, r)
	}
	state := "released"
	if !r.Released {
		state = "was not held"
	}
	_, err := fmt.Fprintln(s.stdout, r.Name, state)
	return err
}
