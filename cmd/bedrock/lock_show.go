package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/latch"
)

func newLockShow(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show one lock: who holds it, since when, who waits",
		Long: `Show one lock: who holds it, since when, who waits.

Who waits is counted by who listens for the release: a holder that had to wait itself may
be among them, for as long as it has the lock.

Where the name is that of a latch, the state is what is left of its count; the JSON has
the kind "latch", and what is left.`,
		Example:           "  bedrock lock show orders/42\n  bedrock lock show orders/42 -o json",
		Args:              wants("NAME"),
		ValidArgsFunction: sys.completeLock,
		RunE: func(c *cobra.Command, args []string) error {
			return sys.askBackend(c.Context(), func(ctx context.Context, s *lockurl.Session) error {
				info, err := s.Inspect(ctx, args[0])
				if err != nil {
					return err
				}
				var asLatch *latchView
				if !info.Held() {
					if asLatch, err = latchOf(ctx, s, args[0]); err != nil {
						return err
					}
				}
				return sys.printLock(lockView{info}, asLatch)
			})
		},
	}
}

// latchOf returns the latch that has the name of a free lock; nil if there is none.
func latchOf(ctx context.Context, s *lockurl.Session, name string) (*latchView, error) {
	left, err := latch.New(s.Client, name, nil).Count(ctx)
	switch {
	case errors.Is(err, driver.ErrRefused), err == nil && left == 0: // unsupported is refused, too
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, err
	}
	return &latchView{name, left}, nil
}

// latchAsLock is a latch in place of the JSON that the API has for a lock: there no latch is one.
type latchAsLock struct {
	latchView

	Kind string `json:"kind"`
}

// printLock prints one lock, or what has its name.
func (s *system) printLock(v lockView, asLatch *latchView) error {
	if s.output == formatJSON {
		if asLatch != nil {
			name := printableText(v.Name)
			fmt.Fprintf(s.stderr, "bedrock: note: %s is a %s: see 'bedrock latch show'\n", name, asLatch.what())
			return writeJSON(s.stdout, latchAsLock{*asLatch, driver.Latch.String()})
		}
		return writeJSON(s.stdout, v.asJSON())
	}
	rows := v.rows()
	if asLatch != nil {
		rows[1][1] = asLatch.what()
	}
	return writeTable(s.stdout, rows)
}

// rows lists the fields of the lock and of its holders for people.
func (v *lockView) rows() [][]string {
	rows := [][]string{{"name", v.Name}, {"state", "free"}, {"token", v.token()}, {"waiting", v.countWaiting()}}
	if v.Held() {
		rows[1][1] = "held"
		rows = append(rows, []string{"kind", v.what()})
	}
	for _, h := range v.holders() {
		rows = append(rows, h.rows()...)
	}
	for i, w := range v.places() {
		rows = append(rows, []string{"place " + strconv.Itoa(i+1), w.String() + "  " + w.owner()})
	}
	return rows
}

// what says what the lock is, of a semaphore with how many of its permits are taken.
func (v *lockView) what() string {
	if v.Kind != driver.Semaphore {
		return v.Kind.String()
	}
	taken := 0
	for _, h := range v.Holders {
		taken += h.Permits
	}
	return fmt.Sprintf("%s, %d of %d permits are taken", v.Kind, taken, v.Limit)
}

// rows lists the holder's fields for people.
func (h *holderView) rows() [][]string {
	rows := [][]string{{"owner", h.owner()}, {"mode", h.Has()}, {"ttl", h.ttl()}}
	if !h.Since.IsZero() {
		rows = append(rows, []string{"since", h.Since.UTC().Format(time.RFC3339)}, []string{"held for", h.held()})
	}
	if h.Linger > 0 {
		rows = append(rows, []string{"lingering", "up to " + h.Linger.String() + " after its unlock"})
	}
	for _, name := range h.Waits {
		rows = append(rows, []string{"waits for", oneLine(name)})
	}
	for _, key := range slices.Sorted(maps.Keys(h.Meta)) {
		rows = append(rows, []string{"meta " + oneLine(key), oneLine(h.Meta[key])}) // or a key would forge a field
	}
	return rows
}
