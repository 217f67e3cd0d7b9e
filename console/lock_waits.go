package console

import (
	"net/http"

	"github.com/bedrock-go/bedrock/lock"
)

// waitsPath is the page that shows who waits for what.
const waitsPath = locksPath + "/waits"

// What that page lists.
const (
	mostWaitRows = 200
	mostCircles  = 20
)

// waitsPage is the page of who holds what and waits for what.
type waitsPage struct {
	Prefix      string
	Circles     [][]circleStep
	MoreCircles int
	Drawing     *drawnWaits
	Rows        []waitRow
	Left        int  // locks not listed
	More        bool // there may be locks that were not looked at
}

// waitRow is a lock that is waited for, or whose holders wait.
type waitRow struct {
	Name     string
	Circle   bool
	State    string // where nobody has it, or nobody has looked
	Holders  []waitHolder
	Others   int // holders not shown
	Awaiting int
}

// waitHolder is one of those who have it.
type waitHolder struct {
	Process, Owner, Has string
	Waits               []string
	Further             int
}

// showWaits answers with who waits for what.
func (c *console) showWaits(w http.ResponseWriter, r *http.Request) {
	page := waitsPage{Prefix: r.URL.Query().Get("prefix")}
	found, err := c.findLocks(r, page.Prefix)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	g := newWaitGraph(found)
	c.followWaits(r.Context(), g)
	page.Circles = g.circles()
	page.MoreCircles = max(len(page.Circles)-mostCircles, 0)
	page.Circles = page.Circles[:len(page.Circles)-page.MoreCircles]
	inCircle := g.inCircles()
	order := g.drawingOrder()
	page.Drawing = g.drawWaits(order, inCircle)
	page.Left = max(len(order)-mostWaitRows, 0)
	for _, name := range order[:len(order)-page.Left] {
		page.Rows = append(page.Rows, c.waitRowOf(g.known[name], name, inCircle[name] > 0))
	}
	page.More = len(found) == mostLocks || g.full
	c.render(w, http.StatusOK, "lock_waits", frame{Title: "Who waits for what", Section: "locks", Page: page})
}

func (c *console) waitRowOf(i *lock.Info, name string, circle bool) waitRow {
	row := waitRow{Name: name, Circle: circle}
	switch {
	case i == nil:
		row.State = "not looked at"
		return row
	case !i.Held():
		row.State = "nobody"
	}
	row.Awaiting = waitersOf(i)
	for at := range i.Holders[:min(len(i.Holders), mostHoldersEach)] {
		h := holderRowOf(&i.Holders[at], c.now())
		row.Holders = append(row.Holders, waitHolder{h.Process, h.Owner, h.Has, h.Waits, h.Further})
	}
	row.Others = len(i.Holders) - len(row.Holders)
	return row
}
