package console_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn"
)

// browser is a page in a real browser, and what it complained about: errors of
// scripts, refusals by the policy, and requests that failed. It knows no names but
// this machine's, so a request to anybody else is one that fails.
type browser struct {
	ctx context.Context //nolint:containedctx // it is the browser

	mu         sync.Mutex
	complaints []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(testenv.Chromium(t)), chromedp.Env("TMPDIR=" + testenv.ShortTemp(t)),
	}
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
	b := &browser{ctx: ctx}
	b.do(t, chromedp.EmulateViewport(1280, 900))
	console := chromedp.Console(ctx)
	var listening sync.WaitGroup
	listening.Go(func() { b.listen(console) })
	t.Cleanup(listening.Wait)
	t.Cleanup(leave)
	return b
}

// listen collects complaints until the browser ends.
func (b *browser) listen(console iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range console {
		if err != nil {
			return
		}
		b.mu.Lock()
		b.complaints = append(b.complaints, fmt.Sprintf("%s %s: %s", m.Type, m.Source, m.Text))
		b.mu.Unlock()
	}
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// resize makes the window as wide as a device.
func (b *browser) resize(t *testing.T, width int64) {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(width, 900))
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

// heard lists the complaints so far. The last ones may still be on their way: a word
// of our own comes after them.
func (b *browser) heard(t *testing.T) []string {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void]("console.log('that is all')"))
	tick, end := time.NewTicker(10*time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for {
		b.mu.Lock()
		heard := slices.Clone(b.complaints)
		b.mu.Unlock()
		if n := len(heard) - 1; n >= 0 && strings.HasSuffix(heard[n], "that is all") {
			return heard[:n]
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("the browser's console is silent:", heard)
		}
	}
}

// clean wants no complaint. Pages that were refused are one, unless the test asked
// for some.
func (b *browser) clean(t *testing.T, refusals bool) {
	t.Helper()
	for _, c := range b.heard(t) {
		if !refusals || !strings.Contains(c, "the server responded with a status of 4") {
			t.Error("the browser complained:", c)
		}
	}
}

// TestTheBrowserComplains shows that clean can fail: for a script that throws, and
// for requests to other machines, whether allowed by a policy or not.
func TestTheBrowserComplains(t *testing.T) {
	t.Parallel()
	page := `<!DOCTYPE html><main>here</main><img src="http://elsewhere.example/x.png"><script>throw new ` +
		`Error("thrown")</script>`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/guarded" {
			w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'unsafe-inline'")
		}
		_, _ = w.Write([]byte(page))
	}))
	defer s.Close()
	for path, want := range map[string]string{"/open": "ERR_NAME_NOT_RESOLVED", "/guarded": "Content Security Policy"} {
		b := newBrowser(t)
		b.open(t, s.URL+path)
		heard := strings.Join(b.heard(t), "\n")
		for _, want := range []string{want, "thrown"} {
			if !strings.Contains(heard, want) {
				t.Errorf("%s: nothing about %q in\n%s", path, want, heard)
			}
		}
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
	b.see(t, "svg.timeline rect.bad title", "charge action, ")
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
	b.clean(t, false)
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
	b.clean(t, false)
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
		"/locks?prefix=" + evil, "/lock?name=" + evil, "/locks/waits?prefix=" + evil, "/lock?done=" + evil,
		"/transactions?name=" + evil, "/transactions?prefix=" + evil,
		"/transactions?status=" + evil,
		"/transactions?mode=" + evil, "/transactions?before=" + evil, "/transactions/" + url.PathEscape(hostile),
		"/transactions/order-1?done=" + evil, "/" + evil,
	} {
		b.open(t, w.URL+page)
		harmed, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](
			`'caught' in window || !!document.querySelector('main script, main img, main b, main i, [onerror], `+
				`a[href^="javascript:"]')`,
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
	b.clean(t, true)
}
