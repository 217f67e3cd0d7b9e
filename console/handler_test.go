package console_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/lock"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// get fetches a page and wants a status.
func (w *world) get(t *testing.T, path string, status int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.do(t, req, status)
}

// post sends a form as a page of the given origin would.
func (w *world) post(t *testing.T, path, origin string, form url.Values, status int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", origin)
	return w.do(t, req, status)
}

func (w *world) do(t *testing.T, req *http.Request, status int) string {
	t.Helper()
	client := w.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != status {
		t.Fatalf("%s %s: %s, want %d\n%s", req.Method, req.URL, res.Status, status, body)
	}
	return string(body)
}

func (w *world) status(t *testing.T, id string) txn.Status {
	t.Helper()
	found, err := w.co.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found.Status
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	w := newWorld(t, nil)
	for _, path := range []string{
		"/", "/transactions", "/transactions/none", "/locks", "/lock?name=x", "/locks/waits",
		"/assets/console.js", "/nonsense",
	} {
		res, err := w.Client().Get(w.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		policy := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		for header, want := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff"} {
			if got := res.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", path, header, got, want)
			}
		}
		if cache := res.Header.Get("Cache-Control"); !strings.HasPrefix(path, "/assets/") && cache != "no-store" {
			t.Errorf("%s: may be kept: %q", path, cache)
		}
	}
}

// TestNothingIsLoadedFromElsewhere looks for addresses, and for scripts and styles
// inside of pages, which the policy would refuse.
func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	w := newWorld(t, nil)
	w.committed(t, "order-1")
	w.heldWaiting(t, "a", "1", "a")
	foreign := regexp.MustCompile(`(?:src|href|action)="(?:[a-z]+:)?//|<style|\sstyle=|\son[a-z]+=|<script(?: ` +
		`defer)?>|@import|url\(`)
	for _, path := range []string{
		"/transactions", "/transactions/order-1", "/locks", "/lock?name=a", "/locks/waits",
		"/assets/console.css", "/assets/console.js",
		"/assets/icon.svg",
	} {
		body := w.get(t, path, http.StatusOK)
		body = strings.ReplaceAll(body, `onerror=\&#34;`, "") // the payload of the test's own making
		if found := foreign.FindString(body); found != "" {
			t.Errorf("%s has %q", path, found)
		}
	}
}

func TestPagesThatAreNotThere(t *testing.T) {
	w := newWorld(t, nil)
	for path, status := range map[string]int{
		"/transactions/none": http.StatusNotFound, "/nonsense": http.StatusNotFound,
		"/assets/none.js":                           http.StatusNotFound,
		"/assets/..%2fpages%2flist.html":            http.StatusNotFound,
		"/transactions/" + strings.Repeat("x", 200): http.StatusBadRequest,
		"/transactions?status=sad":                  http.StatusBadRequest,
		"/transactions?mode=sad":                    http.StatusBadRequest,
		"/transactions?parked=maybe":                http.StatusBadRequest,
		"/transactions?parked=1&status=running":     http.StatusBadRequest,
		"/transactions?before=x":                    http.StatusBadRequest,
		"/transactions?before=1-":                   http.StatusBadRequest,
	} {
		w.get(t, path, status)
	}
}

// TestAPageThatIsNotThereSaysWhatIsMissing in words of the reader's, and where to go on.
func TestAPageThatIsNotThereSaysWhatIsMissing(t *testing.T) {
	w := newWorld(t, nil)
	for path, want := range map[string]string{
		"/transactions/order-1":     `transaction &#34;order-1&#34; is not known`,
		"/nonsense":                 "There is no such page.",
		"/transactions?status=done": "want one of parked, in-doubt, open",
	} {
		status := http.StatusNotFound
		if strings.Contains(path, "?") {
			status = http.StatusBadRequest
		}
		body := w.get(t, path, status)
		if !strings.Contains(body, want) || !strings.Contains(body, `<a href="/transactions">Go back</a>`) {
			t.Errorf("%s: no %q, or no way back, in\n%s", path, want, body)
		}
		for _, inside := range []string{"memstore", "load", "get "} {
			if strings.Contains(body, inside) {
				t.Errorf("%s: tells of %q", path, inside)
			}
		}
	}
	if body := w.get(t, "/transactions?status=committd",
		http.StatusBadRequest); !strings.Contains(body, "(did you mean committed?)") {
		t.Errorf("a slip is not understood:\n%s", body)
	}
}

func TestTheListIsFiltered(t *testing.T) {
	w := newWorld(t, nil)
	w.committed(t, "order-1")
	w.rolledBack(t, "order-2")
	w.stuck(t, "other-3")
	w.stuck(t, "order-4")
	if err := w.co.Act(t.Context(), "order-4", txn.ActPark, "test"); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"": "order-1 order-2 other-3 order-4", "?status=committed": "order-1", "?status=rolled-back": "order-2",
		"?status=running": "other-3 order-4",
		"?prefix=order":   "order-1 order-2 order-4", "?name=order": "order-1 order-2",
		"?mode=saga": "order-1 order-2 other-3 order-4",
		"?mode=tcc":  "", "?status=parked": "order-4", "?parked=1": "order-4", "?parked=true": "order-4",
		"?parked=0&prefix=other": "other-3",
		"?parked=":               "order-1 order-2 other-3 order-4", "?name=orde": "",
		"?status=committed&prefix=other": "",
	} {
		body := w.get(t, "/transactions"+query, http.StatusOK)
		for _, id := range []string{"order-1", "order-2", "other-3", "order-4"} {
			if shown := strings.Contains(body, `href="/transactions/`+id+`"`); shown != strings.Contains(want, id) {
				t.Errorf("%q: %s shown: %v", query, id, shown)
			}
		}
	}
	if body := w.get(t, "/transactions",
		http.StatusOK); !strings.Contains(body, `Committed <span class="count">1</span>`) {
		t.Error("the number of committed transactions is missing")
	}
}

// TestPagesFollowOneAnother goes through all of a long list and wants every
// transaction once.
func TestPagesFollowOneAnother(t *testing.T) {
	w := newWorld(t, nil)
	const many = 120
	for i := range many {
		if _, err := saga.New("many").Step("one", "ok", "").ID(fmt.Sprintf("tx-%03d", i)).Run(t.Context(), w.co,
			nil); err != nil {
			t.Fatal(err)
		}
	}
	row := regexp.MustCompile(`<td class="mono"><a href="/transactions/(tx-\d+)">`)
	next := regexp.MustCompile(`<a href="([^"]+)" rel="next">`)
	seen, pages := make(map[string]int), 0
	for path := "/transactions?name=many"; path != "" && pages < 10; pages++ {
		body := w.get(t, path, http.StatusOK)
		for _, match := range row.FindAllStringSubmatch(body, -1) {
			seen[match[1]]++
		}
		path = ""
		if match := next.FindStringSubmatch(body); match != nil {
			path = strings.ReplaceAll(match[1], "&amp;", "&")
		}
	}
	if len(seen) != many || pages != 3 {
		t.Errorf("%d transactions on %d pages, want %d on 3", len(seen), pages, many)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s was shown %d times", id, times)
		}
	}
}

func TestInterventionsNeedAReason(t *testing.T) {
	w := newWorld(t, nil)
	w.stuck(t, "order-1")
	path := "/transactions/order-1"
	for _, form := range []url.Values{
		{"action": {"park"}},
		{"action": {"park"}, "reason": {"  "}},
		{"action": {"park"}, "reason": {strings.Repeat("x", txn.MaxReason+1)}},
		{"action": {"explode"}, "reason": {"x"}},
		{"reason": {"x"}},
		{"action": {"park"}, "reason": {strings.Repeat("x", 20_000)}},
	} {
		w.post(t, path, w.URL, form, http.StatusBadRequest)
	}
	w.post(t, path, w.URL, url.Values{"action": {"resume"}, "reason": {"x"}}, http.StatusConflict)
	w.post(t, path, w.URL, url.Values{"action": {"park"}, "reason": {"x"}}, http.StatusSeeOther)
	w.post(t, "/transactions/none", w.URL, url.Values{"action": {"park"}, "reason": {"x"}}, http.StatusNotFound)
}

// TestEveryInterventionIsOffered: none that there is is taken for a word of nobody's.
func TestEveryInterventionIsOffered(t *testing.T) {
	w := newWorld(t, nil)
	for _, action := range txn.Actions() {
		form := url.Values{"action": {string(action)}, "reason": {"x"}, "confirmed": {"yes"}}
		w.post(t, "/transactions/none", w.URL, form, http.StatusNotFound)
	}
}

func TestOtherSitesCannotIntervene(t *testing.T) {
	w := newWorld(t, nil)
	w.stuck(t, "order-1")
	form := url.Values{"action": {"park"}, "reason": {"x"}, "confirmed": {"yes"}}
	w.post(t, "/transactions/order-1", "https://evil.example", form, http.StatusForbidden)
	if found, err := w.co.Get(t.Context(), "order-1"); err != nil || found.Parked != "" {
		t.Error("it was parked", err)
	}
}

func TestGraveInterventionsAreConfirmed(t *testing.T) {
	w := newWorld(t, nil)
	w.committed(t, "order-1")
	form := url.Values{"action": {"remove"}, "reason": {hostile}}
	body := w.post(t, "/transactions/order-1", w.URL, form, http.StatusOK)
	if !strings.Contains(body, "cannot be taken back") || strings.Contains(body, "<script>window") {
		t.Errorf("confirmation:\n%s", body)
	}
	if s := w.status(t, "order-1"); s != txn.Committed {
		t.Error("after the first request it is", s)
	}
	form.Set("confirmed", "yes")
	w.post(t, "/transactions/order-1", w.URL, form, http.StatusSeeOther)
	w.get(t, "/transactions/order-1", http.StatusNotFound)
}

// TestReadersAreOfferedNothing covers both ways of having no say.
func TestReadersAreOfferedNothing(t *testing.T) {
	for name, adjust := range map[string]func(*console.Options){
		"no operator": func(c *console.Options) { c.Operator = nil },
		"not allowed": func(c *console.Options) { c.MayAct = func(context.Context) bool { return false } },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, adjust)
			w.stuck(t, "order-1")
			if body := w.get(t, "/transactions/order-1", http.StatusOK); strings.Contains(body, "<form") {
				t.Error("there is a form")
			}
			w.post(t, "/transactions/order-1", w.URL, url.Values{"action": {"park"}, "reason": {"x"}},
				http.StatusForbidden)
		})
	}
}

// TestOffersFitTheState reads which buttons a page has.
func TestOffersFitTheState(t *testing.T) {
	w := newWorld(t, nil)
	w.committed(t, "done")
	w.stuck(t, "busy")
	w.stuck(t, "parked")
	if err := w.co.Act(t.Context(), "parked", txn.ActPark, "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := saga.New("order").Step("charge", "fail", "").Forward().ID("forward").Submit(t.Context(), w.co,
		nil); err != nil {
		t.Fatal(err)
	}
	button := regexp.MustCompile(`name="action" value="(\w+)"`)
	for id, want := range map[string]string{
		"done": "remove", "busy": "retry park compensate", "parked": "resume compensate abandon",
		"forward": "retry park",
	} {
		var found []string
		for _, match := range button.FindAllStringSubmatch(w.get(t, "/transactions/"+id, http.StatusOK), -1) {
			found = append(found, match[1])
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%s: offered %q, want %q", id, got, want)
		}
	}
}

// TestAFinalTransactionIsReadBeforeItIsRemoved wants the button that deletes a record
// below everything that the record says.
func TestAFinalTransactionIsReadBeforeItIsRemoved(t *testing.T) {
	w := newWorld(t, nil)
	w.committed(t, "order-1")
	body := w.get(t, "/transactions/order-1", http.StatusOK)
	last, remove := strings.LastIndex(body, "<h2>Payload</h2>"), strings.Index(body, `value="remove"`)
	if last < 0 || remove < last {
		t.Errorf("the payload is at %d, the button that removes at %d", last, remove)
	}
}

// TestThePageOfLocksTellsNoKeys: who knows an owner can release its lock, which is not
// for those who only read.
func TestThePageOfLocksTellsNoKeys(t *testing.T) {
	w := newWorld(t, nil)
	lease, err := w.locks.Mutex("orders/42", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Unlock(context.Background())
	held, err := w.locks.List(t.Context(), "orders/", 10)
	if err != nil || len(held) != 1 || len(held[0].Holders) != 1 || held[0].Holders[0].Owner == "" {
		t.Fatal(held, err)
	}
	body := w.get(t, "/locks", http.StatusOK)
	owner := held[0].Holders[0].Owner
	if strings.Contains(body, owner) {
		t.Error("the page tells the owner of a lock")
	}
	if !strings.Contains(body, lockdriver.PublicOwner(owner)) {
		t.Error("the page lacks what tells owners apart")
	}
}

func TestLocksAreListed(t *testing.T) {
	w := newWorld(t, nil)
	lease, err := w.locks.Mutex("orders/42", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := w.get(t, "/locks?prefix=orders/", http.StatusOK)
	for _, want := range []string{
		`orders/42`, fmt.Sprintf(`>%d</td>`, lease.Token()), `>(29|30) s</td>`, `>mutex</td>`,
	} {
		if !regexp.MustCompile(want).MatchString(body) {
			t.Errorf("the page of locks lacks %q", want)
		}
	}
	if body := w.get(t, "/locks?prefix=other", http.StatusOK); strings.Contains(body, "orders/42") {
		t.Error("the prefix was not heeded")
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if body := w.get(t, "/locks", http.StatusOK); !strings.Contains(body, "No lock is held") {
		t.Error("a released lock is listed")
	}
}

func TestWithoutLocksThereIsNoSuchPage(t *testing.T) {
	w := newWorld(t, func(c *console.Options) { c.Locks = nil })
	for _, path := range []string{"/locks", "/lock?name=a", "/locks/waits"} {
		w.get(t, path, http.StatusNotFound)
	}
	if strings.Contains(w.get(t, "/transactions", http.StatusOK), `href="/locks"`) {
		t.Error("there is a link to it")
	}
}

// failing is a store and a list of locks that cannot be reached.
type failing struct{ txn.Inspector }

var errDown = errors.New("store <b>down</b>")

func (failing) Get(context.Context, string) (*txn.Transaction, error) { return nil, errDown }
func (failing) List(context.Context, txn.Query) (txn.Page, error)     { return txn.Page{}, errDown }
func (failing) Count(context.Context) (driver.Counts, error)          { return driver.Counts{}, errDown }

type noLocks struct{}

func (noLocks) List(context.Context, string, int) ([]lock.Info, error) { return nil, errDown }
func (noLocks) Inspect(context.Context, string) (lock.Info, error)     { return lock.Info{}, errDown }

func TestAStoreThatIsDownIsSaidSo(t *testing.T) {
	h, err := console.New(failing{}, &console.Options{Locks: noLocks{}})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Server: httptest.NewServer(h)}
	defer w.Close()
	for _, path := range []string{"/transactions", "/transactions/order-1", "/locks", "/lock?name=x", "/locks/waits"} {
		if body := w.get(t, path,
			http.StatusServiceUnavailable); !strings.Contains(body, "store &lt;b&gt;down&lt;/b&gt;") {
			t.Errorf("%s:\n%s", path, body)
		}
	}
}

func TestACountThatFailsHidesNumbersOnly(t *testing.T) {
	w := newWorld(t, func(c *console.Options) { c.Counts = failing{} })
	w.committed(t, "order-1")
	if body := w.get(t, "/transactions", http.StatusOK); strings.Contains(body, `class="count"`) ||
		!strings.Contains(body, "order-1") {
		t.Error("want the list, without numbers")
	}
}

// TestChangesAreAnnounced reads the stream that keeps a page live.
func TestChangesAreAnnounced(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := saga.New("x").Step("one", "slow", "").Step("two", "slow", "").ID("order-1").Submit(t.Context(), w.co,
		nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+"/transactions/order-1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body) // it ends with the transaction
	if err != nil || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(err, res.Header)
	}
	if !strings.HasSuffix(string(text), "data: committed\n\n") {
		t.Errorf("announced:\n%s", text)
	}
}
