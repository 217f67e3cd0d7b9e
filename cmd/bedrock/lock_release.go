package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/txn/check"
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
	var (
		force  bool
		reason string
	)
	c := &cobra.Command{
		Use:   "release NAME --force",
		Short: "Take a lock away from its holder",
		Long: `Take a lock away from its holder, whoever that is.

The lock's token is raised, so that a resource that checks tokens refuses the
former holder's writes. A holder that checks nothing goes on working until it is
told, at once if it listens, or until its next renewal. Without --force nothing
happens.

A server writes into its audit log who has done it, and --reason; a backend keeps no
record.`,
		Example: `  bedrock lock release orders/42 --force
  bedrock lock release orders/42 --force --server https://bedrock.example --reason 'the host is gone'`,
		Args:              wants("NAME"),
		ValidArgsFunction: sys.completeLock,
		RunE: func(c *cobra.Command, args []string) error {
			if !force {
				return &exitError{exitUsage, errNotForced}
			}
			if err := sys.giveForceReason(c.Flags().Changed("reason"), reason); err != nil {
				return err
			}
			return sys.askBackend(c.Context(), func(ctx context.Context, s *lockurl.Session) error {
				held, err := s.ForceRelease(ctx, args[0])
				if err != nil {
					return orDrop(err)
				}
				return sys.printReleased(released{args[0], held})
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "yes, release it although somebody may be working under it")
	c.Flags().StringVar(&reason, "reason", "",
		"why, for the audit log of --server (default that it was this command, and by whom)")
	return c
}

// orDrop says how a latch is opened, to who took it for a lock.
func orDrop(err error) error {
	if other, ok := errors.AsType[*driver.KindError](err); ok && other.Found == driver.Latch {
		return fmt.Errorf("%w; 'bedrock latch drop' opens it", err)
	}
	return err
}

// giveForceReason has the server told why a lock is taken away: by whom at least, if there is no reason.
func (s *system) giveForceReason(given bool, reason string) error {
	server, err := s.lockServer()
	switch {
	case err != nil:
		return err
	case server == nil && given:
		return &exitError{exitUsage, errors.New("--reason is for --server: a backend keeps no record")}
	case server == nil:
		return nil
	case !given:
		reason = "bedrock lock release --force by " + whoAmI()
	}
	s.forceReason = reason
	return check.Reason(reason)
}

// whoAmI is the user and the host.
func whoAmI() string {
	name, host := "somebody", "some host"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
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
