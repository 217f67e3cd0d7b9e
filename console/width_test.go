package console_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// beyond lists what a reader would have to look for beside the window: text, drawings
// and controls that are shown and reach over its edge, inside of parts that scroll, too.
const beyond = `[...document.querySelectorAll("main *, header *")].filter(e => {
	const box = e.getBoundingClientRect();
	return e.checkVisibility() && !e.matches(".skip") && box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
}).map(e => e.tagName + "." + e.getAttribute("class") + " " + e.textContent.trim().slice(0, 30)).slice(0, 5).join("\n")`

// TestNothingIsCutOffOnAnyScreen opens all pages on a phone, a tablet and a desk, with
// names as long as they may be.
func TestNothingIsCutOffOnAnyScreen(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	long := strings.Repeat("x", 64)
	w.committed(t, "order-1")
	w.rolledBack(t, long)
	w.stuck(t, "order-3")
	if err := w.co.Act(t.Context(), "order-3", txn.ActPark, "waits for the bank"); err != nil {
		t.Fatal(err)
	}
	w.longNames(t, "order-4")
	for _, name := range []string{"orders/42", strings.Repeat("customers/", 20)} {
		defer w.locked(t, name)()
	}
	longest := strings.Repeat("name", 128)
	w.heldWaiting(t, longest, "11", "orders/42")
	for _, width := range []int64{360, 820, 980, 1280} {
		b.resize(t, width)
		for name, path := range map[string]string{
			"list": "/transactions", "committed": "/transactions/order-1", "rolled-back": "/transactions/" + long,
			"parked": "/transactions/order-3", "long": "/transactions/order-4", "locks": "/locks", "error": "/nowhere",
			"lock": lockAt(longest), "waits": "/locks/waits",
		} {
			b.open(t, w.URL+path)
			over, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](beyond))
			if err != nil || over != "" {
				t.Errorf("%s, %d pixels wide: beyond the edge (%v):\n%s", path, width, err, over)
			}
			b.shoot(t, fmt.Sprintf("%s-%d", name, width))
		}
	}
	b.clean(t, true)
}

// TestATableOnAPhoneStillNamesItsColumns reads what stands before a cell there.
func TestATableOnAPhoneStillNamesItsColumns(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	w.committed(t, "order-1")
	defer w.locked(t, "orders/42")()
	w.heldWaiting(t, "orders/43", "11", "orders/42")
	b.resize(t, 360)
	for path, columns := range map[string]string{
		"/transactions":         "Name Mode Status Took Created",
		"/transactions/order-1": "Operation Target State Calls",
		lockAt("orders/42"):     "Owner Has Since Held for TTL",
		"/locks/waits":          "Held by Waiting",
		"/locks":                "Holder Owner Token Held for TTL Waiting",
	} {
		b.open(t, w.URL+path)
		read, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](
			`[...document.querySelectorAll("tbody td")].map(e => getComputedStyle(e, `+
				`"::before").content.replaceAll('"', "")).join(" ")`,
		))
		if err != nil || !strings.Contains(read, columns) {
			t.Errorf("%s: cells are called %q (%v), want %q", path, read, err, columns)
		}
	}
}

// TestCallsCanBeSeenOnAPhone wants bars that are drawn within the window and wide
// enough to be seen, and labels large enough to be read.
func TestCallsCanBeSeenOnAPhone(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	w.committed(t, "order-1")
	b.resize(t, 360)
	b.open(t, w.URL+"/transactions/order-1")
	for what, script := range map[string]string{
		"a bar for each of three calls": `[...document.querySelectorAll("svg.timeline rect")].
			filter(e => e.checkVisibility()
			&& e.getBoundingClientRect().width >= 3 && e.getBoundingClientRect().right <= innerWidth).length === 3`,
		"labels of ten pixels": `[...document.querySelectorAll("svg.timeline text.lane")].
			filter(e => e.checkVisibility()
			&& e.getBoundingClientRect().height >= 10).length === 3`,
	} {
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](script)); err != nil || !ok {
			t.Errorf("the drawing lacks %s (%v)", what, err)
		}
	}
}

// longNames submits a transaction whose every text is as long as it may be, without a
// space at which it could be broken.
func (w *world) longNames(t *testing.T, id string) {
	t.Helper()
	target := "https://participant.example/" + strings.Repeat("path", 200)
	s := saga.New(strings.Repeat("name", 16)).ID(id).
		Step(strings.Repeat("b", 64), "fail", "ok").Policy(txn.Policy{Attempts: 1}).Step("then", "ok", "ok")
	if _, err := s.Submit(t.Context(), w.co, target); err != nil {
		t.Fatal(err)
	}
	w.await(t, id, func(found *txn.Transaction) bool { return found.Status.Final() })
}

func (w *world) locked(t *testing.T, name string) (unlock func()) {
	t.Helper()
	lease, err := w.locks.Mutex(name, nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = lease.Unlock(context.Background()) } // the test is over
}
