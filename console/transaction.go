package console

import (
	"net/http"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// What of a transaction is shown.
const (
	mostBranches = 500
	mostAttempts = 500
)

// transactionPage is the page of one transaction.
type transactionPage struct {
	*txn.Transaction

	Took     string
	Next     string // when it goes on by itself; empty if it does not
	Timeline *timelines
	Rows     []branchRow
	Left     int // branches not shown
	Attempts []attemptRow
	Earlier  int // attempts not shown
	Payload  *body
	Actions  []offer
	Done     string // the intervention just made
	Events   string // where changes are announced; empty once there are none
}

// branchRow is one branch.
type branchRow struct {
	ID    string
	After []string
	Ops   []opRow
	Body  *body
}

// opRow is one operation of a branch.
type opRow struct {
	Word   string
	Target txn.Target
	State  string
	Calls  int
	Next   string
	Note   string
	Result *body
}

// attemptRow is one attempt.
type attemptRow struct {
	txn.Attempt

	After string // since the transaction was created
	Until string // and the last of several
	Took  string
	Tone  string
}

// show answers with one transaction.
func (c *console) show(w http.ResponseWriter, r *http.Request) {
	t, err := c.transactions.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	page := c.pageOf(t)
	if c.mayAct(r) {
		page.Actions = offers(t)
	}
	if done := txn.Action(r.URL.Query().Get("done")); slices.Contains(txn.Actions(), done) {
		page.Done = string(done)
	}
	c.render(w, http.StatusOK, "transaction", frame{Title: t.ID, Section: "transactions", Page: page})
}

func (c *console) pageOf(t *txn.Transaction) *transactionPage {
	now := c.now()
	page := &transactionPage{Transaction: t, Took: took(t, now), Timeline: drawings(t)}
	if !t.Status.Final() {
		page.Events = listPath + "/" + t.ID + "/events"
		page.Next = until(t.Due, now)
	}
	page.Rows, page.Left = branchRows(t, now)
	page.Attempts, page.Earlier = attemptRows(t)
	if len(t.Payload) > 0 {
		b := bodyOf(t.Payload)
		page.Payload = &b
	}
	return page
}

// until says when something is due.
func until(due, now time.Time) string {
	switch {
	case due.IsZero():
		return ""
	case !due.After(now):
		return "now"
	default:
		return "in " + brief(due.Sub(now))
	}
}

func branchRows(t *txn.Transaction, now time.Time) (rows []branchRow, left int) {
	if t.Check != nil {
		check := txn.Step{Branch: -1, Phase: txn.PhaseCheck}
		rows = append(rows, branchRow{ID: "(producer)", Ops: []opRow{opRowOf(t, check, now)}})
	}
	shown := min(len(t.Branches), mostBranches)
	for i := range t.Branches[:shown] {
		b := branchRow{ID: t.Branches[i].ID, After: t.Branches[i].After, Ops: opRows(t, i, now)}
		if payload := t.Branches[i].Payload; len(payload) > 0 {
			own := bodyOf(payload)
			b.Body = &own
		}
		rows = append(rows, b)
	}
	return rows, len(t.Branches) - shown
}

// opRows are the operations that a branch has, or that something became of.
func opRows(t *txn.Transaction, i int, now time.Time) []opRow {
	var rows []opRow
	for _, phase := range txn.BranchPhases() {
		s := txn.Step{Branch: i, Phase: phase}
		called := i < len(t.Progress) && t.Progress[i].Op(phase).State != txn.Idle
		if called || t.Target(s) != "" && phase != txn.PhaseHook {
			rows = append(rows, opRowOf(t, s, now))
		}
	}
	return rows
}

func opRowOf(t *txn.Transaction, s txn.Step, now time.Time) opRow {
	row := opRow{Word: modes.Word(t.Mode, s.Phase), Target: t.Target(s), State: "not called"}
	if s.Branch >= len(t.Progress) {
		return row
	}
	op := t.Op(s)
	row.Calls, row.Note = op.Calls, op.Note
	if op.State != txn.Idle {
		row.State = string(op.State)
	}
	if op.State == txn.Unsure && !t.Status.Final() && t.Parked == "" {
		row.Next = until(op.Due, now)
	}
	if len(op.Result) > 0 {
		b := bodyOf(op.Result)
		row.Result = &b
	}
	return row
}

// attemptRows are the latest attempts, oldest first.
func attemptRows(t *txn.Transaction) (rows []attemptRow, earlier int) {
	earlier = max(len(t.Attempts)-mostAttempts, 0)
	for _, a := range t.Attempts[earlier:] {
		row := attemptRow{
			Attempt: a, After: "+" + brief(a.At.Sub(t.Created)), Took: brief(a.Took), Tone: answerTone(a.Answer),
		}
		if a.Times() > 1 {
			row.Until = "+" + brief(a.Last().Sub(t.Created))
		}
		rows = append(rows, row)
	}
	return rows, earlier
}
