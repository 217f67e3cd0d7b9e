package daemon_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// TestTheConsoleShowsLocksOfAnyStore that a server can have, and takes one away there.
func TestTheConsoleShowsLocksOfAnyStore(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) (*lockurl.Backend, error){
		"memory": func(*testing.T) (*lockurl.Backend, error) { return lockurl.New("mem:") },
		"redis":  func(t *testing.T) (*lockurl.Backend, error) { return lockurl.New(redisURLs(t, 1)[0]) },
		"quorum": func(t *testing.T) (*lockurl.Backend, error) {
			return lockurl.NewQuorum(redisURLs(t, 3), &quorum.Options{Quarantine: -1})
		},
		"combination": func(t *testing.T) (*lockurl.Backend, error) {
			return lockurl.NewCombination(redisURLs(t, 2), &combination.Options{NodeTimeout: time.Second})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := run(t, func(c *daemon.Config) {
				var err error
				if c.Locks, err = open(t); err != nil {
					t.Fatal(err)
				}
			})
			showsALock(t, address)
		})
	}
}

func redisURLs(t *testing.T, n int) (urls []string) {
	t.Helper()
	for range n {
		urls = append(urls, "redis://"+testenv.Redis(t, nil).Addr())
	}
	return urls
}

// showsALock takes a lock with an odd name over the API, and away over the console.
func showsALock(t *testing.T, address string) {
	t.Helper()
	client, err := lock.New(dial(t, address).Backend(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Stop(context.Background()) })
	const name = "orders/é <b> 42"
	lease, err := client.Mutex(name, nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"name": {name}, "reason": {"a test"}, "confirmed": {"yes"}}
	pageHas(t, http.MethodGet, address+"/lock?"+form.Encode(), "", "orders/é &lt;b&gt; 42", ">Held<", ">exclusive</td>")
	pageHas(t, http.MethodGet, address+"/locks", "", "orders/é &lt;b&gt; 42")
	pageHas(t, http.MethodGet, address+"/locks/waits", "", "No holder")
	asksForALock(t, address, form, lease)
	pageHas(t, http.MethodPost, address+"/lock/release", form.Encode(), "whoever had it has lost it", ">Free<")
	_ = lease.Unlock(context.Background()) // it is lost
}

// asksForALock asks until the page says that the holder was told, which must be true then: it begins to listen after it
// has the lock. A store that cannot ask says so.
func asksForALock(t *testing.T, address string, form url.Values, lease *lock.Lease) {
	t.Helper()
	tick, end := time.NewTicker(20*time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for {
		body := pageHas(t, http.MethodPost, address+"/lock/ask", form.Encode())
		if strings.Contains(body, "unsupported") {
			return
		}
		if strings.Contains(body, "1 holder was told") {
			break
		}
		select {
		case <-tick.C:
		case <-end:
			t.Errorf("nobody is told:\n%s", body)
			return
		}
	}
	select {
	case <-lease.Asked():
	case <-end:
		t.Error("the page says that the holder was told, and it was not")
	}
}

// pageHas makes a request as a browser would, and wants parts on the page that it leads to.
func pageHas(t *testing.T, method, address, form string, parts ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(string(body), part) {
			t.Errorf("%s %s lacks %q:\n%s", method, address, part, body)
		}
	}
	return string(body)
}
