package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
)

func newLockLs(sys *system) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use:   "ls [PREFIX]",
		Short: "List the locks that are held",
		Long: `List the locks that are held and whose names begin with PREFIX.

There is a line for each holder; KIND, HOLDERS and WAITING are those of the lock. WAITING
is how many listen for the release: a holder that had to wait itself may be among them,
for as long as it has the lock.

On Redis this goes through all keys of the database, in small steps. What the user of the
URL may not touch is left out without a word, so the list of one who may touch nothing is
empty; and so is a key that may as well be something else, since it has no token and an
owner neither of Bedrock's form nor of Redisson's. 'bedrock lock show NAME' tells of both.`,
		Example: "  bedrock lock ls\n  bedrock lock ls orders/ -o json",
		Args:    mayHave,
		RunE: func(c *cobra.Command, args []string) error {
			return sys.askBackend(c.Context(), func(ctx context.Context, s *lockurl.Session) error {
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
		all := make([]json.RawMessage, len(views))
		for i := range views {
			all[i] = views[i].asJSON()
		}
		return writeJSON(s.stdout, all)
	}
	rows := [][]string{{"NAME", "MODE", "HOLDER", "HELD FOR", "TTL", "TOKEN", "WAITING", "OWNER", "KIND", "HOLDERS"}}
	for i := range views {
		rows = append(rows, views[i].lines()...)
	}
	return writeTable(s.stdout, rows)
}

// lines are those of a lock in the table: one per holder.
func (v *lockView) lines() [][]string {
	var lines [][]string
	for _, h := range v.holders() {
		lines = append(lines, []string{
			v.Name, h.Has(), h.who(), h.held(), h.ttl(), v.token(), v.countWaiting(), h.owner(),
			v.Kind.String(), strconv.Itoa(len(v.Holders)),
		})
	}
	return lines
}
