package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	watchInterval      = time.Second
	watchIntervalLeast = 100 * time.Millisecond
	watchLimit         = 10000 // locks watched at a time
)

// watchFlags say what lock watch looks at.
type watchFlags struct {
	interval time.Duration
	prefix   bool
}

func newLockWatch(sys *system) *cobra.Command {
	var flags watchFlags
	c := &cobra.Command{
		Use:   "watch [NAME]",
		Short: "Print what happens to a lock, or to many, until interrupted",
		Long: `Print what happens to the lock NAME, to all locks whose names begin with NAME
(--prefix), or to all locks, until interrupted.

The backend is asked once per interval: a lock taken and given back in between is
seen by its token only, one that was free both times not at all. Of more than
10000 locks some are left out, which is said.`,
		Example: "  bedrock lock watch orders/42\n  bedrock lock watch --prefix orders/ -o json",
		Args:    mayHave,
		RunE: func(c *cobra.Command, args []string) error {
			if flags.interval < watchIntervalLeast {
				return &exitError{
					exitUsage, fmt.Errorf("--interval is %s, the least is %s", flags.interval, watchIntervalLeast),
				}
			}
			session, err := sys.open(lock.Options{})
			if err != nil {
				return err
			}
			defer closeSession(session)
			w := &watcher{sys: sys, look: flags.lookAt(session, args), interval: flags.interval}
			return w.run(c.Context())
		},
	}
	c.Flags().DurationVar(&flags.interval, "interval", watchInterval, "how often to look")
	c.Flags().BoolVar(&flags.prefix, "prefix", false, "watch all locks whose names begin with NAME")
	return c
}

// look reads the present state of what is watched.
type look func(context.Context) ([]lock.Info, error)

func (f *watchFlags) lookAt(s *lockurl.Session, args []string) look {
	if len(args) == 0 || f.prefix {
		return func(ctx context.Context) ([]lock.Info, error) { return s.List(ctx, first(args), watchLimit) }
	}
	return func(ctx context.Context) ([]lock.Info, error) {
		info, err := s.Inspect(ctx, args[0])
		return []lock.Info{info}, err
	}
}

// watcher looks again and again, and prints what has changed.
type watcher struct {
	sys      *system
	look     look
	interval time.Duration
	known    map[string]lockView
	failing  bool
	full     bool // since it was said
}

// run returns when ctx ends, which is how watching is meant to end.
func (w *watcher) run(ctx context.Context) error {
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	for {
		if err := w.lookOnce(ctx); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// lookOnce looks once. What is wrong from the beginning ends the watch; a backend
// that fails later is waited for.
func (w *watcher) lookOnce(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	infos, err := w.look(bounded)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil && w.known == nil:
		return fromBackend(err)
	case err != nil:
		if !w.failing {
			fmt.Fprintln(w.sys.stderr, "bedrock: still trying:", err)
		}
		w.failing = true
		return nil
	}
	w.failing = false
	w.noteFull(len(infos))
	return w.print(w.changes(viewsOf(infos)))
}

// noteFull says once that locks may be left out: who watches takes silence for nothing happening,
// and one that falls out of the list for released.
func (w *watcher) noteFull(found int) {
	if full := found >= watchLimit; full != w.full {
		w.full = full
		if full {
			fmt.Fprintf(w.sys.stderr, "bedrock: note: there may be more than the %d locks watched, "+
				"and one that is left out seems released; see --prefix\n", watchLimit)
		}
	}
}

// change is one line of lock watch, and of who observes an election.
type change struct {
	Time  time.Time
	Event string
	Lock  lockView
}

// changeJSON is how a change is written as JSON.
type changeJSON struct {
	Time  time.Time       `json:"time"`
	Event string          `json:"event"`
	Lock  json.RawMessage `json:"lock"`
}

// changes compares with what was known. A lock that is no longer listed is free.
func (w *watcher) changes(views []lockView) []change {
	var found []change
	now := time.Now().UTC()
	present := make(map[string]lockView, len(views))
	for _, v := range views {
		present[v.Name] = v
		before, known := w.known[v.Name]
		if event := compare(before, v, known); event != "" {
			found = append(found, change{now, event, v})
		}
	}
	for name, before := range w.known {
		if _, still := present[name]; !still && before.Held() {
			found = append(found, change{
				now, "released", lockView{lock.Info{Name: name, Token: before.Token}},
			})
		}
	}
	w.known = present
	return found
}

// compare names what happened between two looks at a lock, "" for nothing.
func compare(before, after lockView, known bool) string {
	switch {
	case !known && !after.Held():
		return "free"
	case !known, !before.Held() && after.Held():
		return "held"
	case before.Held() && !after.Held():
		return "released"
	case slices.Equal(before.owners(), after.owners()):
	case after.Kind == driver.Mutex:
		return "passed on"
	default: // somebody came or went
		return "changed"
	}
	if !after.Held() && before.Token != after.Token {
		return "used meanwhile"
	}
	return ""
}

func (w *watcher) print(changes []change) error {
	for i := range changes {
		if err := w.sys.printLockChange(&changes[i]); err != nil {
			return err
		}
	}
	return nil
}

// printLockChange prints one line.
func (s *system) printLockChange(c *change) error {
	if s.output == formatJSON {
		return writeLine(s.stdout, changeJSON{c.Time, c.Event, c.Lock.asJSON()})
	}
	_, err := fmt.Fprintln(s.stdout, c)
	return err
}

// String says it for people.
func (c *change) String() string {
	var b strings.Builder
	at, name := c.Time.Local().Format(time.TimeOnly), printableText(c.Lock.Name)
	fmt.Fprintf(&b, "%s  %-14s %s  token %d", at, c.Event, name, c.Lock.Token)
	for _, h := range c.Lock.holders() {
		fmt.Fprintf(&b, "  holder %s  owner %s", h.who(), printableText(h.owner()))
	}
	return b.String()
}
