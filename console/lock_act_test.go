package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// taken is a lock of another process.
func (w *world) taken(t *testing.T, name string) *lock.Lease {
	t.Helper()
	lease, err := w.another(t, "worker").Mutex(name, nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Unlock(context.Background()) })
	return lease
}

// TestHoldersAreAsked and told why, and by when; the page says how many.
func TestHoldersAreAsked(t *testing.T) {
	w := newWorld(t, nil)
	lease := w.taken(t, "orders/42")
	form := url.Values{"name": {"orders/42"}, "reason": {"deploy " + hostile[:60]}, "within": {"10m"}}
	body := w.post(t, console.AskPath, w.URL, form, http.StatusSeeOther)
	lacks(t, body, "<script")
	select {
	case <-lease.Asked():
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was asked")
	}
	plea, _ := lease.Plea()
	if plea.Reason != form.Get("reason") || time.Until(plea.By) < 9*time.Minute {
		t.Errorf("asked %+v", plea)
	}
	wants(t, w.get(t, "/lock?name=orders%2F42&done=asked&told=1", http.StatusOK), "1 holder was told")
	wants(t, w.get(t, "/lock?name=orders%2F42&done=asked&told=3", http.StatusOK), "3 holders were told")
	wants(t, w.get(t, "/lock?name=orders%2F42&done=asked&told=0", http.StatusOK), "nobody could be told")
	for _, forged := range []string{"done=asked&told=-1", "done=asked&told=%3Cb%3E", "done=%3Cb%3E", "done=asked"} {
		lacks(t, w.get(t, "/lock?name=orders%2F42&"+forged, http.StatusOK), `role="status"`)
	}
}

// TestALockIsTakenAwayAfterASecondYes only, and the first says from whom.
func TestALockIsTakenAwayAfterASecondYes(t *testing.T) {
	w := newWorld(t, nil)
	lease := w.taken(t, "orders/42")
	form := url.Values{"name": {"orders/42"}, "reason": {"stuck " + hostile}}
	body := w.post(t, "/lock/release", w.URL, form, http.StatusOK)
	wants(t, body, "until then two may work under one lock", "It is taken from", "exclusive, for")
	lacks(t, body, "<script>window")
	if lease.Err() != nil {
		t.Fatal("it was taken away at once")
	}
	form.Set("confirmed", "yes")
	w.post(t, "/lock/release", w.URL, form, http.StatusSeeOther)
	select {
	case <-lease.Context().Done():
	case <-time.After(10 * time.Second):
		t.Fatal("its holder has not lost it")
	}
	body = w.get(t, "/lock?name=orders%2F42&done=released", http.StatusOK)
	wants(t, body, "whoever had it has lost it", ">Free<")
	w.post(t, "/lock/release", w.URL, form, http.StatusSeeOther)
	wants(t, w.get(t, "/lock?name=orders%2F42&done=free", http.StatusOK), "nobody had it")
}

// TestWhatIsWrongWithAFormIsSaid before anybody is asked.
func TestWhatIsWrongWithAFormIsSaid(t *testing.T) {
	w := newWorld(t, nil)
	lease := w.taken(t, "a/b")
	for want, form := range map[string]url.Values{
		"reason: is empty":    {"name": {"a/b"}, "reason": {" "}},
		"name: is empty":      {"reason": {"x"}},
		"within: ":            {"name": {"a/b"}, "reason": {"x"}, "within": {"soon"}},
		"within: is -1s":      {"name": {"a/b"}, "reason": {"x"}, "within": {"-1s"}},
		"the limit is 256":    {"name": {"a/b"}, "reason": {strings.Repeat("x", 257)}},
		"form: cannot be rea": {"name": {"a/b"}, "reason": {strings.Repeat("x", 20_000)}},
	} {
		body := w.post(t, console.AskPath, w.URL, form, http.StatusBadRequest)
		wants(t, body, want)
		if !strings.Contains(body, `<a href="/lock`) {
			t.Errorf("%s: no way back to the locks", want)
		}
	}
	w.post(t, "/lock/release", w.URL, url.Values{"name": {"a/b"}, "confirmed": {"yes"}}, http.StatusBadRequest)
	if _, asked := lease.Plea(); asked || lease.Err() != nil {
		t.Error("something was done")
	}
}

// TestLocksAreForThoseWhoMay wants neither forms for others nor what they would send.
func TestLocksAreForThoseWhoMay(t *testing.T) {
	no := func(context.Context) bool { return false }
	yes := func(context.Context) bool { return true }
	for name, c := range map[string]struct {
		adjust     func(*console.Options)
		ask, force bool
	}{
		"no operator": {func(o *console.Options) { o.LockOperator = nil }, false, false},
		"a viewer":    {func(o *console.Options) { o.MayAct = no }, false, false},
		"a client":    {func(o *console.Options) { o.MayAct, o.MayAsk = no, yes }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.adjust)
			lease := w.taken(t, "a")
			body := w.get(t, lockAt("a"), http.StatusOK)
			if strings.Contains(body, "Ask for it") != c.ask || strings.Contains(body, "Take it away") != c.force {
				t.Errorf("offered:\n%s", body)
			}
			form := url.Values{"name": {"a"}, "reason": {"x"}, "confirmed": {"yes"}}
			asked := http.StatusForbidden
			if c.ask {
				asked = http.StatusSeeOther
			}
			w.post(t, console.AskPath, w.URL, form, asked)
			wants(t, w.post(t, "/lock/release", w.URL, form, http.StatusForbidden), "not for you here")
			if lease.Err() != nil {
				t.Error("it was taken away")
			}
		})
	}
}

func TestOtherSitesCannotTakeLocks(t *testing.T) {
	w := newWorld(t, nil)
	lease := w.taken(t, "a")
	form := url.Values{"name": {"a"}, "reason": {"x"}, "confirmed": {"yes"}}
	for _, path := range []string{console.AskPath, "/lock/release"} {
		w.post(t, path, "https://evil.example", form, http.StatusForbidden)
	}
	if _, asked := lease.Plea(); asked || lease.Err() != nil {
		t.Error("something was done")
	}
}

// refusing is an operator of a store that lacks what is wanted, or is away.
type refusing struct{ err error }

func (r refusing) ForceRelease(context.Context, string, string) (bool, error) { return false, r.err }

func (r refusing) Ask(context.Context, string, string, time.Duration) (int, error) {
	return 0, r.err
}

// TestWhatTheStoreAnswersIsSaid plainly, and the page of the lock is where to go on.
func TestWhatTheStoreAnswersIsSaid(t *testing.T) {
	for status, err := range map[int]error{
		http.StatusConflict:           &driver.KindError{Found: driver.Latch, Wanted: driver.Mutex},
		http.StatusNotImplemented:     fmt.Errorf("lock: %w: no way to ask holders", lock.ErrUnsupported),
		http.StatusServiceUnavailable: errors.New("redis <b>down</b>"),
	} {
		w := newWorld(t, func(o *console.Options) { o.LockOperator = refusing{err} })
		form := url.Values{"name": {"a/b"}, "reason": {"x"}, "confirmed": {"yes"}}
		for _, path := range []string{console.AskPath, "/lock/release"} {
			body := w.post(t, path, w.URL, form, status)
			wants(t, body, `<a href="/lock?name=a%2Fb">Go back</a>`)
			lacks(t, body, "<b>")
		}
	}
}
