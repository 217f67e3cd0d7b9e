package console_test

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/lock"
)

// TestSomebodyAsksForALock walks from the list to the holder's answer: the page follows it.
func TestSomebodyAsksForALock(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	lease := w.taken(t, "orders/42 & more")
	w.queuedTurn(t, "orders/42 & more")
	b.open(t, w.URL+"/locks")
	b.do(t, chromedp.Click(`a[href^="/lock?"]`))
	b.see(t, "h1", "orders/42 & more")
	b.see(t, ".badge", "Held")
	b.see(t, "#pulse", "live")
	b.shoot(t, "lock-held")
	b.do(t,
		chromedp.SendKeys("input[name=reason]", "the nightly job"),
		chromedp.Evaluate[chromedp.Void](`document.querySelector("select[name=within]").value = "1m"`),
		chromedp.Click("button[value=ask]"),
	)
	b.see(t, ".done", "1 holder was told")
	b.shoot(t, "lock-asked")
	select {
	case <-lease.Asked():
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was asked")
	}
	if p, _ := lease.Plea(); p.Reason != "the nightly job" || p.By.IsZero() {
		t.Errorf("asked %+v", p)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.see(t, "#head .badge", "Held") // by who has waited
	b.see(t, "#rows td", "next")
	b.see(t, "#seen tbody tr:nth-child(2) td", "exclusive") // the one before
	b.clean(t, false)
}

// TestSomebodyTakesALockAway after a second yes, and sees that it is free.
func TestSomebodyTakesALockAway(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	lease := w.taken(t, hostile)
	b.open(t, w.URL+lockAt(hostile))
	b.see(t, "h1", hostile)
	b.do(t, chromedp.SendKeys("input[name=reason]", "it hangs"), chromedp.Click("button[value=release]"))
	b.see(t, "h1", "Take it away?")
	b.see(t, "li", "exclusive, for")
	b.shoot(t, "lock-confirm")
	if lease.Err() != nil {
		t.Fatal("it was taken away before that was confirmed")
	}
	b.do(t, chromedp.Click("button.grave"))
	b.see(t, ".done", "whoever had it has lost it")
	b.see(t, ".badge", "Free")
	b.shoot(t, "lock-free")
	b.clean(t, false)
}

// TestWhoMayNotIsOfferedNothing on the page of a lock, which says the rest all the same.
func TestWhoMayNotIsOfferedNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *console.Options) { o.MayAct = func(context.Context) bool { return false } })
	b := newBrowser(t)
	w.taken(t, "a")
	b.open(t, w.URL+lockAt("a"))
	b.see(t, "#rows td", "worker")
	form, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`!!document.querySelector("form")`))
	if err != nil || form {
		t.Error("there is a form", err)
	}
	b.clean(t, false)
}

// TestThePageOfALockFollowsIt: holders, the line, and what was seen.
func TestThePageOfALockFollowsIt(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	b.open(t, w.URL+lockAt("tickets/1"))
	b.see(t, "#head .badge", "Free")
	lease, err := w.locks.Mutex("tickets/1", &lock.MutexOptions{Fair: true}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.see(t, "#head .badge", "Held")
	w.queued(t, "tickets/1", "first", 1)
	w.queued(t, "tickets/1", "second", 2)
	b.see(t, "#line td", "role: second")
	b.shoot(t, "lock-line")
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.see(t, "#seen td", "now")
	b.clean(t, false)
}

// TestTwoProcessesInACircleAreSeen in the drawing, in words, and on the page of either lock.
func TestTwoProcessesInACircleAreSeen(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	w.heldWaiting(t, "accounts/alice", "11", "accounts/bob")
	w.heldWaiting(t, "accounts/bob", "22", "accounts/alice")
	w.heldWaiting(t, "reports/"+hostile, "33", "accounts/bob")
	b.open(t, w.URL+"/locks")
	b.see(t, ".alarm", "in a circle")
	b.do(t, chromedp.Click(`.alarm a`))
	b.see(t, ".alarm li", "accounts/alice is held by web/11")
	b.see(t, ".arcs .bad title", "web/22 has accounts/bob and waits for accounts/alice")
	b.see(t, ".arcs text", "reports/")
	b.see(t, "td .badge.bad", "in a circle")
	b.shoot(t, "lock-waits")
	b.do(t, chromedp.Click(`td a[href="/lock?name=accounts%2Fbob"]`))
	b.see(t, ".alarm li", "accounts/bob is held by web/22")
	b.shoot(t, "lock-circle")
	b.clean(t, false)
}

// TestAServerThatIsGoneIsSaidSo beside what the page said last.
func TestAServerThatIsGoneIsSaidSo(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	w.taken(t, "a")
	b.open(t, w.URL+lockAt("a"))
	b.see(t, "#pulse", "live")
	w.Listener.Close()
	w.CloseClientConnections()
	b.see(t, "#pulse", "no connection")
	b.see(t, "#rows td", "worker")
}
