package daemon_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
)

// scrape reads the metrics of a server.
func scrape(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMetricsBeginAtZero: an alert on the increase of a counter would not see the first
// event otherwise.
func TestMetricsBeginAtZero(t *testing.T) {
	text := scrape(t, run(t, func(c *daemon.Config) { c.Version = "v1.2.3" }))
	for _, want := range []string{
		"bedrock_lock_lost_total 0\n", "bedrock_lock_forced_total 0\n", `bedrock_lock_left_total{reason="held"} 0`,
		"bedrock_lock_acquired_total 0\n", "bedrock_lock_queued 0\n", `bedrock_txn_parked_total{mode="saga"} 0`,
		`bedrock_txn_finished_total{mode="tcc",outcome="in-doubt"} 0`, `version="v1.2.3"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", strings.TrimSpace(want))
		}
	}
	if strings.Contains(text, `name=""`) {
		t.Error("there are labels without a value")
	}
	if n := strings.Count(text, "\nbedrock_"); n > 400 {
		t.Errorf("%d series before anything has happened", n)
	}
}

// askForLock calls LockService in JSON.
func askForLock(t *testing.T, s *site, procedure, body string) {
	t.Helper()
	url := s.address + "/bedrock.v1.LockService/" + procedure
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
}

// TestLocksOfTheServerAreCounted, under the names that a program's own locks have.
func TestLocksOfTheServerAreCounted(t *testing.T) {
	s := open(t, nil)
	for _, call := range []struct{ procedure, body string }{
		{"Acquire", `{"name": "a", "owner": "me-1"}`},
		{"Acquire", `{"name": "a", "wait": "0.02s"}`},
		{
			"Renew",
			`{"grants": [{"name": "a", "owner": "me-1", "ttl": "30s"}, {"name": "b", "owner": "me-2", "ttl": "1s"}]}`,
		},
		{"Release", `{"grant": {"name": "a", "owner": "me-1"}}`},
	} {
		askForLock(t, s, call.procedure, call.body)
	}
	text := scrape(t, s.address)
	for _, want := range []string{
		"bedrock_lock_acquired_total 1\n", "bedrock_lock_renewed_total 1\n", "bedrock_lock_lost_total 1\n",
		`bedrock_lock_left_total{reason="held"} 1`, `bedrock_lock_left_total{reason="unlocked"} 1`,
		`bedrock_lock_left_total{reason="lost"} 1`, "bedrock_lock_queued 0\n", "bedrock_lock_wait_seconds_count 1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", strings.TrimSpace(want))
		}
	}
}
