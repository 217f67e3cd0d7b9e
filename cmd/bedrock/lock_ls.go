package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/backendurl"
)

func newLockLs(sys *system) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use:   "ls [PREFIX]",
		Short: "List the locks that are held",
		Long: `List the locks that are held and whose names begin with PREFIX.

On Redis this goes through all keys of the database, in small steps.`,
		Example: "  bedrock lock ls\n  bedrock lock ls orders/ -o json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return sys.ask(c.Context(), func(ctx context.Context, s *backendurl.Session) error {
				infos, err := s.List(ctx, first(args), limit)
				if err != nil {
					return err
				}
				if len(infos) == limit {
					fmt.Fprintf(sys.stderr, "bedrock: note: there may be more than the %d shown; see --limit\n", limit)
				}
				return sys.printLocks(viewsOf(infos))
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 1000, "list at most this many")
	return c
}

// first returns the first argument, if there is one.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (s *system) printLocks(views []lockView) error {
	if s.output == formatJSON {
		return writeJSON(s.stdout, views)
	}
	rows := [][]string{{"NAME", "HOLDER", "HELD FOR", "LEASE", "TOKEN", "WAITING", "OWNER"}}
	for i := range views {
		v := &views[i]
		rows = append(rows, []string{
			v.Name, v.holder(), v.held(), v.ttl(), v.token(), strconv.Itoa(v.Waiting), v.Owner,
		})
	}
	return writeTable(s.stdout, rows)
}
