package console

import (
	"context"
	"net/http"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Config says what a console shows. Only Transactions is needed.
type Config struct {
	Transactions txn.Inspector
	// Operator carries out interventions. Nil: the console is for reading only.
	Operator txn.Operator
	// Counts tells how many transactions there are. Nil: no numbers are shown.
	Counts driver.Counter
	// Locks lists the locks that are held. Nil: there is no page of locks.
	Locks Locks

	// MayAct tells whether the person behind a request is offered interventions. To
	// refuse them is for whoever mounts the console. Nil: everybody is.
	MayAct func(context.Context) bool
	// Name is shown beside the product's, to tell servers apart.
	Name string
	// Stopping ends live updates when it is closed, so that a server can stop.
	Stopping <-chan struct{}
}

// Locks lists locks; a *lock.Client does.
type Locks interface {
	List(ctx context.Context, prefix string, limit int) ([]lock.Info, error)
}

// console answers requests.
type console struct {
	Config

	pages  *pages
	counts *counts
	live   chan struct{} // one element per live update under way
	now    func() time.Time
}

// New makes the handler of a console. It panics without Transactions.
func New(config Config) http.Handler {
	if config.Transactions == nil {
		panic("console: Config.Transactions is nil")
	}
	c := &console{
		Config: config, pages: newPages(), counts: &counts{counter: config.Counts},
		live: make(chan struct{}, mostLive), now: time.Now,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, listPath, http.StatusSeeOther)
	})
	mux.HandleFunc("GET "+listPath, c.list)
	mux.HandleFunc("GET "+listPath+"/{id}", c.show)
	mux.HandleFunc("GET "+listPath+"/{id}/events", c.events)
	mux.HandleFunc("POST "+listPath+"/{id}", c.act)
	mux.HandleFunc("GET /locks", c.locks)
	mux.HandleFunc("GET /assets/{file}", c.pages.asset)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, http.StatusNotFound, "There is no such page.")
	})
	return secured(http.NewCrossOriginProtection().Handler(mux))
}

// listPath is where the transactions are; each is a page below it.
const listPath = "/transactions"

// mayAct tells whether interventions are offered.
func (c *console) mayAct(r *http.Request) bool {
	return c.Operator != nil && (c.MayAct == nil || c.MayAct(r.Context()))
}
