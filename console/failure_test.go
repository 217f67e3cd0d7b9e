package console_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/txn"
)

// TestADoubtIsShownAsItsCause: an intervention that may have been made is not one of a
// transaction that does not exist.
func TestADoubtIsShownAsItsCause(t *testing.T) {
	for _, cause := range []error{txn.ErrNotFound, txn.ErrAction, &txn.InvalidError{Field: "a", Problem: "b"}} {
		w := newWorld(t, func(c *console.Options) { c.Operator = doubtful{cause} })
		w.post(t, "/transactions/x", w.URL, url.Values{"action": {"resume"}, "reason": {"x"}},
			http.StatusServiceUnavailable)
	}
}

// doubtful does not know whether it has intervened.
type doubtful struct{ cause error }

func (d doubtful) Act(context.Context, string, txn.Action, string) error {
	return &txn.InDoubtError{ID: "x", Err: d.cause}
}
