package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
)

// mostForm bounds the form of interventions, in bytes.
const mostForm = 16 << 10

// offer is an intervention that fits a transaction's state.
type offer struct {
	Action  txn.Action
	Label   string
	Means   string
	Confirm bool // it cannot be taken back, so it is asked for twice
}

// offered lists all interventions.
func offered() []offer {
	return []offer{
		{txn.ActRetry, "Retry now", "Call again now what waits to be called.", false},
		{txn.ActResume, "Resume", "Let it go on, with its attempts renewed.", false},
		{txn.ActPark, "Park", "Stop calling until somebody resumes it.", false},
		{txn.ActCompensate, "Roll back", "Decide to roll back, and undo what was done.", true},
		{
			txn.ActAbandon, "Abandon", "End it in doubt: nobody will be called any more, whatever was done stays done.",
			true,
		},
		{txn.ActRemove, "Remove", "Delete the record of this transaction.", true},
	}
}

// fits reports whether an intervention makes sense for a transaction. The coordinator
// has the last word.
func (o *offer) fits(t *txn.Transaction) bool {
	final, parked := t.Status.Final(), t.Parked != ""
	switch o.Action {
	case txn.ActRetry, txn.ActPark:
		return !final && !parked
	case txn.ActResume, txn.ActAbandon:
		return !final && parked
	case txn.ActCompensate:
		return (t.Status == txn.Open || t.Status == txn.Running) && t.Recovery != txn.Forward
	default:
		return final
	}
}

func offers(t *txn.Transaction) []offer {
	return slices.DeleteFunc(offered(), func(o offer) bool { return !o.fits(t) })
}

// confirmation asks for an intervention a second time.
type confirmation struct {
	offer

	ID     string
	Reason string
}

// act carries out an intervention.
func (c *console) act(w http.ResponseWriter, r *http.Request) {
	if !c.mayAct(r) {
		c.writeFailure(w, r, http.StatusForbidden, "Interventions are not for you here.")
		return
	}
	id := r.PathValue("id")
	wanted, reason, err := readForm(w, r)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	if wanted.Confirm && r.PostForm.Get("confirmed") != "yes" {
		c.render(w, http.StatusOK, "confirm", frame{
			Title: wanted.Label + " " + id, Section: "transactions", Page: confirmation{wanted, id, reason},
		})
		return
	}
	if err := c.Operator.Act(r.Context(), id, wanted.Action, reason); err != nil {
		c.writeError(w, r, err)
		return
	}
	//nolint:gosec // it begins with our own path
	http.Redirect(w, r, afterwards(id, wanted.Action), http.StatusSeeOther)
}

// afterwards is where to look after an intervention.
func afterwards(id string, a txn.Action) string {
	if a == txn.ActRemove {
		return listPath
	}
	return listPath + "/" + url.PathEscape(id) + "?done=" + url.QueryEscape(string(a))
}

func readForm(w http.ResponseWriter, r *http.Request) (offer, string, error) {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		return offer{}, "", input.Errorf("form", "cannot be read")
	}
	action := txn.Action(r.PostForm.Get("action"))
	reason := strings.TrimSpace(r.PostForm.Get("reason"))
	if err := cmp.Or(check.Action(action), check.Reason(reason)); err != nil {
		return offer{}, "", err
	}
	all := offered()
	i := slices.IndexFunc(all, func(o offer) bool { return o.Action == action })
	return all[i], reason, nil
}
