package txns

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeDTM answers as a DTM server that is lucky: it calls what it is told to call,
// again and again until it succeeds.
type fakeDTM struct {
	client http.Client
	work   sync.WaitGroup

	mu       sync.Mutex
	confirms map[string][]string
	status   map[string]string
	requests map[string]int
}

// dtmRequest has the fields it looks at.
type dtmRequest struct {
	ID         string              `json:"gid"`
	Type       string              `json:"trans_type"`
	Steps      []map[string]string `json:"steps"`
	Confirm    string              `json:"confirm"`
	WaitResult bool                `json:"wait_result"`
}

func (f *fakeDTM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q dtmRequest
	_ = json.NewDecoder(r.Body).Decode(&q)
	method := strings.TrimPrefix(r.URL.Path, "/api/dtmsvr/")
	f.mu.Lock()
	f.requests[method+" "+q.Type]++
	if method == "registerBranch" {
		f.confirms[q.ID] = append(f.confirms[q.ID], q.Confirm)
	}
	status := f.status[r.URL.Query().Get("gid")]
	f.mu.Unlock()
	if method == "query" {
		_ = json.NewEncoder(w).Encode(map[string]any{"transaction": map[string]string{"status": status}})
		return
	}
	if method == "submit" {
		done := make(chan struct{})
		f.work.Go(func() {
			f.finish(q)
			close(done)
		})
		if q.WaitResult {
			<-done
		}
	}
	_, _ = io.WriteString(w, `{"dtm_result":"SUCCESS"}`)
}

// finish calls all participants and notes that it has.
func (f *fakeDTM) finish(q dtmRequest) {
	f.mu.Lock()
	urls := f.confirms[q.ID]
	f.mu.Unlock()
	for _, s := range q.Steps {
		urls = append(urls, s["action"])
	}
	for _, url := range urls {
		for !f.called(url + "?gid=" + q.ID) {
			time.Sleep(5 * time.Millisecond) // what it waits for is another process
		}
	}
	f.mu.Lock()
	f.status[q.ID] = "succeed"
	f.mu.Unlock()
}

func (f *fakeDTM) called(url string) bool {
	response, err := f.client.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func TestDTMIsDrivenThroughItsAPI(t *testing.T) {
	fake := &fakeDTM{
		confirms: make(map[string][]string), status: make(map[string]string), requests: make(map[string]int),
	}
	server := httptest.NewServer(fake)
	defer server.Close()
	defer fake.work.Wait()
	rows := smoke(t, &Suite{
		DTM: []Server{{Store: "boltdb", URL: server.URL}}, Subjects: []string{"dtm-boltdb"}, Workloads: dtmWorkloads(),
	}, len(dtmWorkloads()))
	fake.mu.Lock()
	defer fake.mu.Unlock()
	for _, request := range []string{
		"submit saga", "prepare tcc", "registerBranch tcc", "submit tcc", "prepare msg", "submit msg",
	} {
		if fake.requests[request] == 0 {
			t.Errorf("no %s among %v", request, fake.requests)
		}
	}
	if r := find(rows, "saga-64", "dtm-boltdb"); r == nil || r.CPU == nil {
		t.Errorf("saga-64 = %+v: want the server's processor time", r)
	}
}

// dtmWorkloads are those that compare with DTM.
func dtmWorkloads() []string {
	return []string{"saga-1", "saga-16", "saga-64", "tcc-64", "tcc-own-tries-64", "msg-64", "outage-1000"}
}
