package console

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/bedrock-go/bedrock/lock"
)

// What of the locks is listed.
const (
	mostLocks       = 500
	mostHoldersEach = 20 // of one lock: its own page has more
)

// locksPath is where the locks are listed.
const locksPath = "/locks"

// lockListing is the page of locks.
type lockListing struct {
	Prefix  string
	Rows    []lockRow
	More    bool
	Circles int // of holders who wait for one another
}

// lockRow is one holder of a lock.
type lockRow struct {
	holderRow

	Name    string
	Kind    string
	Of      string // has what, unless the kind says it
	Token   uint64
	Waiting int
	Others  int // holders that are not listed, on the row of the last one that is
}

// listLocks answers with the locks that are held.
func (c *console) listLocks(w http.ResponseWriter, r *http.Request) {
	page := lockListing{Prefix: r.URL.Query().Get("prefix")}
	found, err := c.findLocks(r, page.Prefix)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	for i := range found {
		page.Rows = append(page.Rows, c.lockRows(&found[i])...)
	}
	page.More = len(found) == mostLocks
	page.Circles = len(newWaitGraph(found).circles())
	c.render(w, http.StatusOK, "locks", frame{Title: "Locks", Section: "locks", Page: page})
}

// findLocks lists locks by name, for a page.
func (c *console) findLocks(r *http.Request, prefix string) ([]lock.Info, error) {
	found, err := c.Locks.List(r.Context(), prefix, mostLocks)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b lock.Info) int { return cmp.Compare(a.Name, b.Name) })
	c.seen.addAll(found, c.now())
	return found, nil
}

func (c *console) lockRows(i *lock.Info) []lockRow {
	now, shown := c.now(), min(len(i.Holders), mostHoldersEach)
	rows := make([]lockRow, shown)
	for at := range shown {
		h := &i.Holders[at]
		rows[at] = lockRow{
			holderRow: holderRowOf(h, now), Name: i.Name, Kind: i.Kind.String(), Of: hasOf(i, h), Token: i.Token,
			Waiting: waitersOf(i),
		}
	}
	if shown > 0 {
		rows[shown-1].Others = len(i.Holders) - shown
	}
	return rows
}

// waitersOf is how many wait. Those in line are among those who listen, where both are told.
func waitersOf(i *lock.Info) int { return max(i.Waiting, len(i.Line), i.Local) }
