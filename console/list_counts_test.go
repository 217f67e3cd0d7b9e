package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// listed tells when it has listed nothing.
type listed struct {
	txn.Inspector
	told chan struct{}
}

func (l listed) List(context.Context, txn.Query) (txn.Page, error) {
	l.told <- struct{}{}
	return txn.Page{}, nil
}

// counting is a store that counts for as long as it is let, and tells when it begins.
type counting struct {
	began chan struct{}
	done  chan driver.Counts
}

func (c counting) Count(ctx context.Context) (driver.Counts, error) {
	c.began <- struct{}{}
	select {
	case found := <-c.done:
		return found, nil
	case <-ctx.Done():
		return driver.Counts{}, ctx.Err()
	}
}

// asked asks for the list, and returns what ends the request and what tells the page.
func asked(t *testing.T, h http.Handler) (leave context.CancelFunc, page chan string) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	page = make(chan string, 1)
	go func() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/transactions", http.NoBody))
		page <- w.Body.String()
	}()
	return leave, page
}

// within waits for what has to come.
func within[T any](t *testing.T, c chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(20 * time.Second):
		t.Fatal("still waiting")
	}
	return v
}

// TestAPageWaitsForTheNumbersOfAnother: no longer than its own request lasts; and one that
// leaves takes the numbers from nobody.
func TestAPageWaitsForTheNumbersOfAnother(t *testing.T) {
	list := listed{told: make(chan struct{})}
	store := counting{began: make(chan struct{}), done: make(chan driver.Counts)}
	h, err := console.New(list, &console.Options{Counts: store})
	if err != nil {
		t.Fatal(err)
	}
	leaveFirst, first := asked(t, h)
	within(t, list.told)
	within(t, store.began)
	leaveSecond, second := asked(t, h)
	within(t, list.told)
	leaveSecond()
	within(t, second)
	leaveFirst()
	within(t, first)
	_, third := asked(t, h)
	within(t, list.told)
	within(t, store.began)
	store.done <- driver.Counts{Parked: 471}
	if page := within(t, third); !strings.Contains(page, "471") {
		t.Error("the third page has no numbers")
	}
}
