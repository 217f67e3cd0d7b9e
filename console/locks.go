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

// lockRow is one holder of a lock.
type lockRow struct {
	Name    string
	Token   uint64
	Waiting int

	Mode   string
	Holder string
	Owner  string // what others may be told: the owner itself is the key to a release
	Since  time.Time
	Held   string
	Left   string
}

// locks answers with the locks that are held.
func (c *console) locks(w http.ResponseWriter, r *http.Request) {
	if c.Locks == nil {
		c.writeFailure(w, r, http.StatusNotFound, "This server keeps no locks.")
		return
	}
	page := lockPage{Prefix: r.URL.Query().Get("prefix")}
	found, err := c.Locks.List(r.Context(), page.Prefix, mostLocks)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	slices.SortFunc(found, func(a, b lock.Info) int { return cmp.Compare(a.Name, b.Name) })
	now := c.now()
	for i := range found {
		for _, h := range found[i].Holders {
			page.Rows = append(page.Rows, lockRowOf(&found[i], h, now))
		}
	}
	page.More = len(found) == mostLocks
	c.render(w, http.StatusOK, "locks", frame{Title: "Locks", Section: "locks", Page: page})
}

func lockRowOf(i *lock.Info, h lock.Holder, now time.Time) lockRow {
	row := lockRow{
		Name: i.Name, Token: i.Token, Waiting: max(i.Waiting, len(i.Line)),
		Mode: h.Has(), Owner: driver.PublicOwner(h.Owner), Since: h.Since, Held: "–", Left: "never ends",
	}
	row.Holder = strings.TrimSuffix(h.Meta["host"]+"/"+h.Meta["pid"], "/")
	if !h.Since.IsZero() {
		row.Held = brief(now.Sub(h.Since))
	}
	if h.TTL >= 0 {
		row.Left = brief(h.TTL)
	}
	return row
}
