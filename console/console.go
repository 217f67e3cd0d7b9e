package console

import (
	"context"
	"net/http"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Options adjusts a console. Zero fields mean the defaults.
type Options struct {
	// Operator carries out interventions. Default: the console is for reading only.
	Operator txn.Operator
	// Counts says how many transactions there are. Default: no numbers are shown.
	Counts driver.Counter
	// Locks tells of locks. Default: there are no pages of locks.
	Locks Locks
	// LockOperator asks for locks, and takes them away. Default: the pages of locks are for reading only.
	LockOperator LockOperator

	// MayAct reports whether the person behind a request is offered interventions. It
	// refuses none: that is for the server that mounts the console. Default: everybody is
	// offered them.
	MayAct func(context.Context) bool
	// MayAsk is MayAct for asking the holders of a lock to give it back, see [AskPath]. Default: MayAct.
	MayAsk func(context.Context) bool
	// Name is shown beside the product's, to tell servers apart. Default: none.
	Name string
	// Stopping is closed when the server of a request wants to stop: its live updates end
	// then. Default: they end with their requests.
	Stopping func(context.Context) <-chan struct{}
}

func (o *Options) withDefaults() Options {
	var r Options
	if o != nil {
		r = *o
	}
	if r.MayAct == nil {
		r.MayAct = func(context.Context) bool { return true }
	}
	if r.MayAsk == nil {
		r.MayAsk = r.MayAct
	}
	if r.Stopping == nil {
		r.Stopping = func(context.Context) <-chan struct{} { return nil }
	}
	return r
}

// Locks tells of locks; a *lock.Client does.
type Locks interface {
	Inspect(ctx context.Context, name string) (lock.Info, error)
	List(ctx context.Context, prefix string, limit int) ([]lock.Info, error)
}

// console answers requests.
type console struct {
	Options

	transactions txn.Inspector

	pages  *pages
	counts *counts
	seen   *seenGrants
	live   chan struct{} // one element per live update under way
	now    func() time.Time
}

// New makes the handler of a console that shows transactions. A nil inspector is an
// *input.Error.
func New(transactions txn.Inspector, opts *Options) (http.Handler, error) {
	if transactions == nil {
		return nil, &input.Error{Field: "transactions", Problem: "is nil"}
	}
	o := opts.withDefaults()
	c := &console{
		Options: o, transactions: transactions, pages: newPages(), counts: newCounts(o.Counts),
		seen: newSeenGrants(time.Now()), live: make(chan struct{}, mostLive), now: time.Now,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, listPath, http.StatusSeeOther)
	})
	mux.HandleFunc("GET "+listPath, c.list)
	mux.HandleFunc("GET "+listPath+"/{id}", c.show)
	mux.HandleFunc("GET "+listPath+"/{id}/events", c.events)
	mux.HandleFunc("POST "+listPath+"/{id}", c.act)
	c.routeLocks(mux)
	mux.HandleFunc("GET /assets/{file}", c.pages.asset)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.writeFailure(w, r, http.StatusNotFound, "There is no such page.")
	})
	return secured(http.NewCrossOriginProtection().Handler(mux)), nil
}

// routeLocks adds the pages of locks.
func (c *console) routeLocks(mux *http.ServeMux) {
	for pattern, page := range map[string]http.HandlerFunc{
		"GET " + locksPath: c.listLocks, "GET " + waitsPath: c.showWaits, "GET " + lockPath: c.showLock,
		"POST " + AskPath: c.askHolders, "POST " + releasePath: c.forceLock,
	} {
		if c.Locks == nil {
			page = func(w http.ResponseWriter, r *http.Request) {
				c.writeFailure(w, r, http.StatusNotFound, "This server keeps no locks.")
			}
		}
		mux.HandleFunc(pattern, page)
	}
}

// listPath is where the transactions are; each is a page below it.
const listPath = "/transactions"

// mayAct reports whether interventions are offered.
func (c *console) mayAct(r *http.Request) bool {
	return c.Operator != nil && c.MayAct(r.Context())
}
