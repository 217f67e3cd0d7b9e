package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/backendurl"
)

func newLockShow(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Show one lock: who holds it, since when, who waits",
		Example:           "  bedrock lock show orders/42\n  bedrock lock show orders/42 -o json",
		Args:              wants("NAME"),
		ValidArgsFunction: sys.completeLock,
		RunE: func(c *cobra.Command, args []string) error {
			return sys.ask(c.Context(), func(ctx context.Context, s *backendurl.Session) error {
				info, err := s.Inspect(ctx, args[0])
				if err != nil {
					return err
				}
				view := viewOf(info)
				if sys.output == formatJSON {
					return writeJSON(sys.stdout, view)
				}
				return writeTable(sys.stdout, view.rows())
			})
		},
	}
}

// rows lists the lock's fields for people.
func (v *lockView) rows() [][]string {
	rows := [][]string{{"name", v.Name}, {"state", "free"}, {"token", v.token()}, {"waiting", strconv.Itoa(v.Waiting)}}
	if !v.Held {
		return rows
	}
	rows[1][1] = "held"
	rows = append(rows, []string{"owner", v.Owner}, []string{"lease", v.ttl()})
	if v.Since != nil {
		rows = append(rows, []string{"since", v.Since.Format(time.RFC3339)}, []string{"held for", v.held()})
	}
	for _, key := range slices.Sorted(maps.Keys(v.Meta)) {
		rows = append(rows, []string{key, v.Meta[key]})
	}
	return rows
}
