package console

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// mostLocks is how many locks are listed.
const mostLocks = 500

// lockPage is the page of locks.
type lockPage struct {
	Prefix string
	Rows   []lockRow
	More   bool
}

// lockRow is one lock that is held.
type lockRow struct {
	lock.Info

	Holder string
	Owner  string // what others may be told: the owner itself is the key to a release
	Held   string
	Left   string
}

// locks answers with the locks that are held.
func (c *console) locks(w http.ResponseWriter, r *http.Request) {
	if c.Locks == nil {
		c.fail(w, r, http.StatusNotFound, "This server keeps no locks.")
		return
	}
	page := lockPage{Prefix: r.URL.Query().Get("prefix")}
	found, err := c.Locks.List(r.Context(), page.Prefix, mostLocks)
	if err != nil {
		c.failWith(w, r, err)
		return
	}
	slices.SortFunc(found, func(a, b lock.Info) int { return cmp.Compare(a.Name, b.Name) })
	now := c.now()
	for i := range found {
		page.Rows = append(page.Rows, lockRowOf(found[i], now))
	}
	page.More = len(found) == mostLocks
	c.render(w, http.StatusOK, "locks", frame{Title: "Locks", Section: "locks", Page: page})
}

func lockRowOf(i lock.Info, now time.Time) lockRow {
	row := lockRow{Info: i, Owner: driver.PublicOwner(i.Owner), Held: "–", Left: "never ends"}
	row.Holder = strings.TrimSuffix(i.Meta["host"]+"/"+i.Meta["pid"], "/")
	if !i.Since.IsZero() {
		row.Held = brief(now.Sub(i.Since))
	}
	if i.TTL >= 0 {
		row.Left = brief(i.TTL)
	}
	return row
}
