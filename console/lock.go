package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// What of one lock is shown.
const (
	mostHolders = 500
	mostInLine  = 500
)

// lockPath is the page of one lock. The name is in the query: as a part of the path a browser or a proxy would make
// something else of slashes and dots.
const lockPath = "/lock"

func lockHref(name string) string { return lockPath + "?" + url.Values{"name": {name}}.Encode() }

// lockPage is the page of one lock.
type lockPage struct {
	Name    string
	Kind    string // empty while nobody has it
	Held    bool
	Token   uint64
	Permits string // of a semaphore
	Waiting int

	Holders     []holderRow
	MoreHolders int
	Line        []placeRow
	MoreInLine  int
	Circle      []circleStep
	Seen        []seenRow
	Watched     time.Time // since when grants are seen

	MayAsk, MayForce bool
	Done             string // what somebody has just done
}

// placeRow is somebody who waits in line.
type placeRow struct {
	Place          int
	Process, Owner string
	Since          time.Time
	Waited         string
	Meta           []metaRow
}

// seenRow is a grant that was seen.
type seenRow struct {
	seenGrant

	Now               bool
	FirstAgo, LastAgo string
}

// showLock answers with one lock.
func (c *console) showLock(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	found, err := c.Locks.Inspect(r.Context(), name)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	page := c.lockPageOf(&found)
	page.Circle = c.circleThrough(r.Context(), &found)
	page.MayAsk, page.MayForce = c.mayAsk(r), c.mayForce(r)
	page.Done = doneToLock(r.URL.Query())
	c.render(w, http.StatusOK, "lock", frame{Title: cut(name, 60), Section: "locks", Page: page})
}

func (c *console) lockPageOf(i *lock.Info) *lockPage {
	now := c.now()
	c.seen.addAll([]lock.Info{*i}, now)
	page := &lockPage{
		Name: i.Name, Held: i.Held(), Token: i.Token, Waiting: waitersOf(i), Permits: permitsTaken(i),
		Watched: c.seen.began,
	}
	if i.Held() || len(i.Line) > 0 {
		page.Kind = i.Kind.String()
	}
	shown := min(len(i.Holders), mostHolders)
	for at := range shown {
		page.Holders = append(page.Holders, holderRowOf(&i.Holders[at], now))
	}
	page.MoreHolders = len(i.Holders) - shown
	shown = min(len(i.Line), mostInLine)
	for at := range shown {
		page.Line = append(page.Line, placeRowOf(&i.Line[at], at+1, now))
	}
	page.MoreInLine = len(i.Line) - shown
	for _, g := range c.seen.grantsOf(i.Name) {
		page.Seen = append(page.Seen, seenRow{g, g.Last.Equal(now), ago(now.Sub(g.First)), ago(now.Sub(g.Last))})
	}
	return page
}

func permitsTaken(i *lock.Info) string {
	if i.Kind != driver.Semaphore || !i.Held() {
		return ""
	}
	taken := 0
	for _, h := range i.Holders {
		taken += h.Permits
	}
	return fmt.Sprintf("%s of %s are taken", grouped(taken), grouped(i.Limit))
}

func placeRowOf(l *lock.InLine, place int, now time.Time) placeRow {
	row := placeRow{
		Place: place, Process: processOf(l.Meta), Owner: driver.PublicOwner(l.Owner), Since: l.Since, Waited: "–",
		Meta: metaRows(l.Meta),
	}
	if !l.Since.IsZero() {
		row.Waited = brief(now.Sub(l.Since))
	}
	return row
}

// doneToLock reads from an address what somebody has just done.
func doneToLock(q url.Values) string {
	told, err := strconv.ParseUint(q.Get("told"), 10, 31)
	switch done := q.Get("done"); {
	case done == doneReleased:
		return "Taken away: whoever had it has lost it."
	case done == doneFree:
		return "Nothing was taken away: nobody had it."
	case done != doneAsked || err != nil:
		return ""
	case told == 0:
		return "Asked, but nobody could be told: nobody has it, or who has it does not listen."
	case told == 1:
		return "Asked: 1 holder was told. It gives the lock back when it can, or not."
	default:
		return fmt.Sprintf("Asked: %s holders were told. They give it back when they can, or not.", grouped(int(told)))
	}
}
