package console_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// wants says what a page lacks.
func wants(t *testing.T, body string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(body, part) {
			t.Errorf("the page lacks %q:\n%s", part, body)
		}
	}
}

func lacks(t *testing.T, body string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(body, part) {
			t.Errorf("the page has %q:\n%s", part, body)
		}
	}
}

// TestALockIsDescribed while somebody has it, and when it is gone.
func TestALockIsDescribed(t *testing.T) {
	w := newWorld(t, nil)
	m := w.locks.Mutex("orders/42", &lock.MutexOptions{Meta: map[string]string{"order": hostile}})
	lease, err := m.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := w.get(t, lockAt("orders/42"), http.StatusOK)
	wants(t, body, ">Held<", "<dd>mutex</dd>", fmt.Sprintf("<dd>%d</dd>", lease.Token()), ">exclusive</td>",
		"order: "+html.EscapeString(hostile)[:20], `<td class="num" data-label="Last seen">now</td>`)
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	body = w.get(t, lockAt("orders/42"), http.StatusOK)
	wants(t, body, ">Free<", "Nobody has it.", "Grants seen", `data-label="Last seen"><time`)
	lacks(t, body, `data-label="Last seen">now<`, "<form")
}

// TestAFreeLockIsDescribed although nobody has ever had it.
func TestAFreeLockIsDescribed(t *testing.T) {
	w := newWorld(t, nil)
	body := w.get(t, lockAt("never/held"), http.StatusOK)
	wants(t, body, "never/held", ">Free<", "Nobody has it.", "while nobody looked")
	lacks(t, body, "<form", "First seen")
}

func TestAllHoldersAreDescribed(t *testing.T) {
	w := newWorld(t, nil)
	for range 3 {
		lease, err := w.another(t, "reader").RWMutex("prices", nil).RLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Unlock(t.Context())
	}
	lease, err := w.locks.Semaphore("slots", 5, nil).LockN(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Unlock(t.Context())
	body := w.get(t, lockAt("prices"), http.StatusOK)
	if n := strings.Count(body, "role: reader"); n != 3 {
		t.Errorf("%d of 3 readers:\n%s", n, body)
	}
	wants(t, body, "read-write lock", ">shared</td>")
	wants(t, w.get(t, lockAt("slots"), http.StatusOK), "semaphore", "2 of 5 are taken", ">2 permits</td>")
	wants(t, w.get(t, "/locks", http.StatusOK), "read-write lock", "2 permits of 5", `href="/lock?name=prices"`)
}

func TestTheLineOfAFairLockIsShown(t *testing.T) {
	w := newWorld(t, nil)
	lease, err := w.locks.Mutex("tickets", &lock.MutexOptions{Fair: true}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.queued(t, "tickets", "first", 1)
	w.queued(t, "tickets", "second", 2)
	body := w.get(t, lockAt("tickets"), http.StatusOK)
	wants(t, body, "In line", "<td>1</td>", "<td>2</td>", "<dd>2</dd>")
	if strings.Index(body, "role: first") > strings.Index(body, "role: second") {
		t.Error("the line is out of order")
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.inspect(t, "tickets", func(i *lock.Info) bool { return len(i.Line) == 1 })
	wants(t, w.get(t, lockAt("tickets"), http.StatusOK), "role: first", "<dd>1</dd>")
}

// TestOddNamesArePagesToo follows the links of the list.
func TestOddNamesArePagesToo(t *testing.T) {
	w := newWorld(t, nil)
	odd := []string{
		"..", ".", "/", "a//b/../c", "a b+c", "100%", "%2F?x=1&y#z", `"quoted" 'twice'`, hostile, "žluťoučký/鍵/🔒",
		"javascript:alert(1)", "//elsewhere.example/x", strings.Repeat("é/", 170) + "xx", `\`,
	}
	for _, name := range odd {
		defer w.locked(t, name)()
	}
	body := w.get(t, "/locks", http.StatusOK)
	links := regexp.MustCompile(`<a href="(/lock\?[^"]*)">([^<]*)</a>`).FindAllStringSubmatch(body, -1)
	found := make(map[string]bool)
	for _, link := range links {
		name := html.UnescapeString(link[2])
		page := w.get(t, html.UnescapeString(link[1]), http.StatusOK)
		title := regexp.MustCompile(`<h1 class="mono">([^<]*)</h1>`).FindStringSubmatch(page)
		found[name] = title != nil && html.UnescapeString(title[1]) == name && strings.Contains(page, ">Held<")
	}
	for _, name := range odd {
		if !found[name] {
			t.Errorf("no page of %q", name)
		}
	}
}

func TestNamesThatNoLockHasAreRefused(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"", "a\nb", "\xff", strings.Repeat("x", driver.MaxName+1)} {
		body := w.get(t, lockAt(name), http.StatusBadRequest)
		wants(t, body, "name:", `<a href="/locks">Go back</a>`)
	}
	w.get(t, "/locks/waits?prefix=%00", http.StatusBadRequest)
}

// without is a store of locks that cannot tell.
type without struct{ told }

func (without) Inspect(context.Context, string) (lock.Info, error) {
	return lock.Info{}, fmt.Errorf("lock: %w: the backend has no inspection", lock.ErrUnsupported)
}

func TestAStoreThatCannotTellIsSaidSo(t *testing.T) {
	w := newWorld(t, func(o *console.Options) { o.Locks = without{} })
	wants(t, w.get(t, lockAt("x"), http.StatusNotImplemented), "has no inspection", `<a href="/locks">Go back</a>`)
}

// TestOnlySoManyGrantsAreRemembered of a name, the newest.
func TestOnlySoManyGrantsAreRemembered(t *testing.T) {
	w := newWorld(t, nil)
	for range 25 {
		unlock := w.locked(t, "busy")
		w.get(t, "/locks", http.StatusOK)
		unlock()
	}
	body := w.get(t, lockAt("busy"), http.StatusOK)
	if n := strings.Count(body, `data-label="First seen"`); n != 20 {
		t.Errorf("%d grants are shown, want 20", n)
	}
}

// TestOneGrantIsSeenOnce however often somebody looks, and whatever several stores say of its beginning.
func TestOneGrantIsSeenOnce(t *testing.T) {
	infos := []lock.Info{heldBy("a", "1")}
	w := newTold(t, infos...)
	for range 3 {
		infos[0].Holders[0].Since = infos[0].Holders[0].Since.Add(1)
		w.get(t, lockAt("a"), http.StatusOK)
	}
	if n := strings.Count(w.get(t, lockAt("a"), http.StatusOK), `data-label="First seen"`); n != 1 {
		t.Errorf("%d grants were seen, want 1", n)
	}
}

// TestManyHoldersAreNotAllListed: a page stays one that can be read.
func TestManyHoldersAreNotAllListed(t *testing.T) {
	crowd := lock.Info{Name: "crowd", Kind: driver.ReadWrite}
	for i := range 600 {
		crowd.Holders = append(crowd.Holders, lock.Holder{Owner: fmt.Sprint("o", i), Mode: driver.Shared, TTL: 1e9})
	}
	w := newTold(t, crowd)
	wants(t, w.get(t, lockAt("crowd"), http.StatusOK), "100 more holders are not shown")
	body := w.get(t, "/locks", http.StatusOK)
	wants(t, body, "and 580 more")
	if n := strings.Count(body, ">shared</span>"); n != 20 {
		t.Errorf("%d holders are listed, want 20", n)
	}
}
