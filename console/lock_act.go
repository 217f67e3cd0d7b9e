package console

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/txn/check"
)

// AskPath is where holders are asked to give a lock back, with POST. The API lets every client do that, while a server
// lets none but operators send anything to a console unless it is told of this path.
const AskPath = lockPath + "/ask"

// releasePath is where a lock is taken away.
const releasePath = lockPath + "/release"

// What a page may say that was done.
const (
	doneAsked    = "asked"
	doneReleased = "released"
	doneFree     = "free"
)

// LockOperator does what people want of a lock that others have. Package server makes one of a *lock.Client that
// writes down who wanted it.
type LockOperator interface {
	// ForceRelease takes a lock away. It reports whether anybody had it.
	ForceRelease(ctx context.Context, name, reason string) (held bool, err error)
	// Ask asks all who have a lock to give it back, and returns how many were told.
	Ask(ctx context.Context, name, reason string, within time.Duration) (told int, err error)
}

func (c *console) mayAsk(r *http.Request) bool { return c.LockOperator != nil && c.MayAsk(r.Context()) }

func (c *console) mayForce(r *http.Request) bool {
	return c.LockOperator != nil && c.MayAct(r.Context())
}

// askHolders asks who has a lock to give it back.
func (c *console) askHolders(w http.ResponseWriter, r *http.Request) {
	if !c.mayAsk(r) {
		c.writeFailure(w, r, http.StatusForbidden, "Asking for locks is not for you here.")
		return
	}
	name, reason, err := readLockForm(w, r)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	within, err := parseWithin(r.PostForm.Get("within"))
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	told, err := c.LockOperator.Ask(r.Context(), name, reason, within)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	redirectToLock(w, r, name, url.Values{"done": {doneAsked}, "told": {strconv.Itoa(told)}})
}

// lockConfirmation asks a second time whether a lock is to be taken away.
type lockConfirmation struct {
	Name, Reason string
	Known        bool // who has it
	Holders      []holderRow
	More         int
}

// forceLock takes a lock away.
func (c *console) forceLock(w http.ResponseWriter, r *http.Request) {
	if !c.mayForce(r) {
		c.writeFailure(w, r, http.StatusForbidden, "Taking locks away is not for you here.")
		return
	}
	name, reason, err := readLockForm(w, r)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	if r.PostForm.Get("confirmed") != "yes" {
		c.render(w, http.StatusOK, "lock_confirm", frame{
			Title: "Take away " + cut(name, 60), Section: "locks",
			Page: c.lockConfirmationOf(r.Context(), name, reason),
		})
		return
	}
	held, err := c.LockOperator.ForceRelease(r.Context(), name, reason)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	done := doneFree
	if held {
		done = doneReleased
	}
	redirectToLock(w, r, name, url.Values{"done": {done}})
}

// lockConfirmationOf says who has the lock. Where that cannot be told it can be taken away all the same.
func (c *console) lockConfirmationOf(ctx context.Context, name, reason string) lockConfirmation {
	page := lockConfirmation{Name: name, Reason: reason}
	found, err := c.Locks.Inspect(ctx, name)
	if err != nil {
		return page
	}
	page.Known = true
	for at := range found.Holders[:min(len(found.Holders), mostHoldersEach)] {
		page.Holders = append(page.Holders, holderRowOf(&found.Holders[at], c.now()))
	}
	page.More = len(found.Holders) - len(page.Holders)
	return page
}

func redirectToLock(w http.ResponseWriter, r *http.Request, name string, done url.Values) {
	done.Set("name", name)
	http.Redirect(w, r, lockPath+"?"+done.Encode(), http.StatusSeeOther)
}

// readLockForm reads which lock is meant, and why.
func readLockForm(w http.ResponseWriter, r *http.Request) (name, reason string, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		return "", "", input.Errorf("form", "cannot be read")
	}
	name, reason = r.PostForm.Get("name"), strings.TrimSpace(r.PostForm.Get("reason"))
	return name, reason, cmp.Or(driver.CheckName(name), check.Reason(reason))
}

// parseWithin reads in what time a lock is wanted; nothing is as soon as it can be.
func parseWithin(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	within, err := time.ParseDuration(text)
	if err != nil {
		return 0, input.Errorf("within", "%.40q is no duration, such as 30s", text)
	}
	return within, nil
}
