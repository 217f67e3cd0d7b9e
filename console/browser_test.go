package console_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn"
)

// browser is a page in a real browser, which remembers what it complained about
// and whom it asked.
type browser struct {
	ctx context.Context //nolint:containedctx // it is the browser

	mu         sync.Mutex
	complaints []string
	asked      []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	opts := []chromedp.ExecAllocatorOption{chromedp.ExecPath(testenv.Chromium(t))}
	for _, flag := range testenv.ChromiumFlags(t.TempDir()) {
		name, value, has := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if !has {
			opts = append(opts, chromedp.Flag(name, true))
			continue
		}
		opts = append(opts, chromedp.Flag(name, value))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(stop)
	ctx, leave := chromedp.NewContext(ctx)
	t.Cleanup(leave)
	b := &browser{ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.EmulateViewport(1280, 900))
	return b
}

// hear remembers errors and requests.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, fmt.Sprint(e.Type, " was written to"))
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, fmt.Sprint(e.Entry.Source, ": ", e.Entry.Text))
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	}
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

func (b *browser) open(t *testing.T, address string) {
	t.Helper()
	b.do(t, chromedp.Navigate(address), chromedp.WaitVisible("main"))
}

// fill writes the reason of an intervention and asks for it.
func (b *browser) fill(t *testing.T, reason string, action txn.Action) {
	t.Helper()
	b.do(t, chromedp.SendKeys("input[name=reason]", reason), chromedp.Click("button[value="+string(action)+"]"))
}

// see waits until an element holds a text, whatever page is shown by then.
func (b *browser) see(t *testing.T, selector, text string) {
	t.Helper()
	script := fmt.Sprintf("[...document.querySelectorAll(%q)].some(e => e.textContent.includes(%q))", selector, text)
	tick, end := time.NewTicker(50*time.Millisecond), time.After(15*time.Second)
	defer tick.Stop()
	for {
		if found, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](script)); err == nil && found {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			page, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
			t.Fatalf("no %s with %q on the page: %v\n%s", selector, text, err, page)
		}
	}
}

// shoot keeps a picture of the page where BEDROCK_SCREENSHOTS says.
func (b *browser) shoot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("BEDROCK_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/"+name+".png", picture, 0o600); err != nil {
		t.Fatal(err)
	}
}

// clean wants no complaint and no question to anybody else. Pages that were refused
// are a complaint, unless the test asked for some.
func (b *browser) clean(t *testing.T, origin string, refusals bool) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		if refusals && strings.HasPrefix(c, "network: Failed to load resource: the server responded with a status of 4") {
			continue
		}
		t.Error("the browser complained:", c)
	}
	for _, asked := range b.asked {
		if u, err := url.Parse(asked); err != nil || u.Scheme+"://"+u.Host != origin {
			t.Error("the page asked somebody else:", asked)
		}
	}
	if len(b.asked) < 3 {
		t.Error("too few requests were seen for this to mean anything:", b.asked)
	}
}

// TestAnOperatorParksAndResumes walks through the console as a person would.
func TestAnOperatorParksAndResumes(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	w.committed(t, "order-1")
	w.rolledBack(t, "order-2")
	w.stuck(t, "order-3")
	b.open(t, w.URL+"/")
	b.see(t, "td", "order-1")
	b.see(t, ".badge.good", "Committed")
	b.shoot(t, "list")
	b.do(t, chromedp.Click(`a[href="/transactions/order-3"]`))
	b.see(t, "h1", "order-3")
	b.see(t, "svg.timeline text", "charge")
	b.see(t, "svg.timeline rect.bad title", "attempt 1: failed")
	b.see(t, "#pulse", "live")
	b.shoot(t, "running")
	b.fill(t, "look into "+hostile, txn.ActPark)
	b.see(t, ".alarm", "look into")
	b.see(t, ".badge", "Parked")
	b.see(t, ".done", "park")
	b.shoot(t, "parked")
	w.await(t, "order-3", func(found *txn.Transaction) bool { return found.Parked != "" })
	b.fill(t, "fixed", txn.ActResume)
	b.see(t, ".done", "resume")
	found := w.await(t, "order-3", func(found *txn.Transaction) bool { return found.Parked == "" })
	if found.Status != txn.Running {
		t.Error("resumed transaction is", found.Status)
	}
	b.see(t, "td.text", "fixed")
	b.shoot(t, "resumed")
	b.clean(t, w.URL, false)
}

// TestAGraveInterventionIsAskedForTwice also sees the page follow what happens.
func TestAGraveInterventionIsAskedForTwice(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	w.stuck(t, "order-9")
	b.open(t, w.URL+"/transactions/order-9")
	b.fill(t, "customer left", txn.ActCompensate)
	b.see(t, "h1", "Roll back?")
	b.shoot(t, "confirm")
	if found, err := w.co.Get(t.Context(), "order-9"); err != nil || found.Status != txn.Running {
		t.Fatal("it was rolled back before it was confirmed", found.Status, err)
	}
	b.do(t, chromedp.Click("button.grave"))
	b.see(t, ".badge", "Rolled back") // by itself: the page is live
	b.shoot(t, "rolled-back")
	b.clean(t, w.URL, false)
}

// TestTextStaysText opens every page with text that would like to be more.
func TestTextStaysText(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, nil), newBrowser(t)
	w.committed(t, "order-1")
	w.rolledBack(t, "order-2")
	w.stuck(t, "order-3")
	lease, err := w.locks.Mutex(hostile, nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Unlock(context.Background())
	evil := url.QueryEscape(hostile)
	for _, page := range []string{
		"/transactions", "/transactions/order-1", "/transactions/order-2", "/transactions/order-3", "/locks",
		"/locks?prefix=" + evil, "/transactions?name=" + evil, "/transactions?prefix=" + evil, "/transactions?status=" + evil,
		"/transactions?mode=" + evil, "/transactions?before=" + evil, "/transactions/" + url.PathEscape(hostile),
		"/transactions/order-1?done=" + evil, "/" + evil,
	} {
		b.open(t, w.URL+page)
		harmed, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](
			`'caught' in window || !!document.querySelector('main script, main img, main b, main i, [onerror], a[href^="javascript:"]')`,
		))
		if err != nil || harmed {
			t.Errorf("%s: text became markup (%v)", page, err)
		}
	}
	b.shoot(t, "error")
	b.open(t, w.URL+"/locks")
	b.see(t, "td.mono", "<script>")
	b.shoot(t, "locks")
	b.open(t, w.URL+"/transactions/order-2")
	b.see(t, "td.text", "<script>")
	b.shoot(t, "refused")
	b.open(t, w.URL+"/transactions/order-1")
	b.see(t, "pre", "window.caught=1")
	b.shoot(t, "committed")
	b.clean(t, w.URL, true)
}
