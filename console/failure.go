package console

import (
	"errors"
	"net/http"
	"strings"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/txn"
)

// failure is a page that says what went wrong.
type failure struct {
	Status  int
	Problem string
	Back    string // where to go on
}

func (c *console) writeFailure(w http.ResponseWriter, r *http.Request, status int, problem string) {
	c.render(w, status, "error", frame{
		Title: http.StatusText(status), Page: failure{Status: status, Problem: problem, Back: c.backFrom(r, status)},
	})
}

// backFrom is where to go on after a failure.
func (c *console) backFrom(r *http.Request, status int) string {
	if id := r.PathValue("id"); id != "" && status != http.StatusNotFound {
		return listPath + "/" + id
	}
	if c.Locks == nil || !strings.HasPrefix(r.URL.Path, lockPath) {
		return listPath
	}
	if name := r.PostForm.Get("name"); name != "" && driver.CheckName(name) == nil {
		return lockHref(name)
	}
	return locksPath
}

// writeError answers with what an error means.
func (c *console) writeError(w http.ResponseWriter, r *http.Request, err error) {
	c.writeFailure(w, r, statusOf(err), err.Error())
}

func statusOf(err error) int {
	var field *txn.InvalidError
	var inDoubt *txn.InDoubtError
	switch {
	case errors.As(err, &inDoubt): // first: what it wraps is not certain
		return http.StatusServiceUnavailable
	case errors.Is(err, txn.ErrNotFound):
		return http.StatusNotFound
	case errors.As(err, &field):
		return http.StatusBadRequest
	case errors.Is(err, txn.ErrAction), errors.Is(err, txn.ErrDecided), errors.Is(err, lock.ErrKind):
		return http.StatusConflict
	case errors.Is(err, lock.ErrUnsupported):
		return http.StatusNotImplemented
	default:
		return http.StatusServiceUnavailable
	}
}
