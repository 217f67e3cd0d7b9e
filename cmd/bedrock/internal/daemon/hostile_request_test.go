package daemon_test

import (
	"bytes"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestUnreadableRequests: what is no request to begin with is refused as that.
func TestUnreadableRequests(t *testing.T) {
	s := open(t, nil)
	fine := submission(step(`"action": "demo.echo"`))
	for name, tc := range map[string]struct {
		body   string
		header http.Header
		status int
		word   string
	}{
		"nothing":      {"", kind("application/json"), 400, "body: is empty; want a JSON object, {} at least"},
		"broken off":   {fine[:len(fine)-2], kind("application/json"), 400, "unexpected"},
		"two requests": {fine + fine, kind("application/json"), 400, "body: syntax error in line 1"},
		"a list":       {"[" + fine + "]", kind("application/json"), 400, "body: want an object with fields"},
		"unknown field": {
			submission(`"comment": "x", ` + step(`"action": "demo.echo"`)), kind("application/json"), 400,
			"comment: unknown field; want mode, name",
		},
		"unknown field inside": {
			submission(step(`"action": "demo.echo", "undo": "demo.echo"`)), kind("application/json"), 400,
			"steps[0].undo: unknown field; want id, action, compensate",
		},
		"another case": {
			submission(step(`"Action": "demo.echo"`)), kind("application/json"), 400,
			"steps[0].Action: unknown field (did you mean action?)",
		},
		"a list for a text": {
			submission(step(`"action": [7]`)), kind("application/json"), 400, "steps[0].action: want text",
		},
		"a huge number": {
			submission(`"parallel": 1e99, ` + step(`"action": "demo.echo"`)), kind("application/json"), 400, "parallel",
		},
		"a duration in words": {
			submission(`"timeout": "a minute", ` + step(`"action": "demo.echo"`)), kind("application/json"), 400,
			"a minute",
		},
		"a field twice": {
			submission(`"name": "a", "name": "b", ` + step(`"action": "demo.echo"`)), kind("application/json"), 400,
			"there twice",
		},
		"no UTF-8": {
			submission("\"name\": \"\xff\", " + step(`"action": "demo.echo"`)), kind("application/json"), 400, "UTF-8",
		},
		"a NUL": {
			submission("\"name\": \"\x00\", " + step(`"action": "demo.echo"`)), kind("application/json"), 400,
			"invalid",
		},
		"deep": {
			submission(`"payload": ` + strings.Repeat("[", 500_000)), kind("application/json"), 400, "",
		},
		"too large": {
			submission(`"payload": "` + strings.Repeat("x", 3<<20) + `"`), kind("application/json"), 429, "2097152",
		},
		"a form":           {"id=hostile", kind("application/x-www-form-urlencoded"), 415, ""},
		"plain text":       {fine, kind("text/plain"), 415, ""},
		"XML":              {"<a/>", kind("application/xml"), 415, ""},
		"no type":          {fine, http.Header{}, 415, ""},
		"JSON as protobuf": {fine, kind("application/proto"), 400, "unmarshal"},
		"strange compression": {
			fine, http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"br"}}, 501, "br",
		},
		"false compression": {
			fine, http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}, 400, "gzip",
		},
		"bad patience": {
			fine, http.Header{"Content-Type": {"application/json"}, "Connect-Timeout-Ms": {"soon"}}, 400, "timeout",
		},
		"strange protocol": {
			fine, http.Header{"Content-Type": {"application/json"}, "Connect-Protocol-Version": {"99"}}, 400, "99",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.send(t.Context(), t, http.MethodPost, "Submit", strings.NewReader(tc.body), tc.header)
			a.refused(t, tc.status, tc.word)
			s.nothing(t)
		})
	}
	t.Run("another method", func(t *testing.T) {
		s.send(t.Context(), t, http.MethodPut, "Submit", strings.NewReader(fine), kind("application/json")).refused(t,
			http.StatusMethodNotAllowed)
		s.nothing(t)
	})
}

func kind(contentType string) http.Header { return http.Header{"Content-Type": {contentType}} }

// TestEndlessBody: a body without an end is left at its limit.
func TestEndlessBody(t *testing.T) {
	s := open(t, nil)
	endless := &counted{text: bytes.Repeat([]byte(" "), 32<<10)}
	a, err := s.try(t.Context(), http.MethodPost, "Submit", endless, kind("application/json"))
	if err == nil {
		a.refused(t, http.StatusTooManyRequests, "2097152")
	} // else the connection was closed before the answer could be read
	if taken := endless.size(); taken > 16<<20 {
		t.Errorf("%d MB were taken", taken>>20)
	}
	s.nothing(t)
}

// counted is an endless text that knows how much of it was read.
type counted struct {
	text []byte

	mu    sync.Mutex
	taken int
}

func (c *counted) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := copy(p, c.text)
	c.taken += n
	return n, nil
}

func (c *counted) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken
}

// TestHostileRequestsCostLittle sends what is small on the way and large in memory,
// several at once: only as many as there are processors are read at a time.
func TestHostileRequestsCostLittle(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := open(t, nil)
	const size, atOnce, most = 128 << 10, 8, 80 << 20
	for name, body := range map[string]string{
		"empty steps":   submission(`"steps": [` + strings.Repeat("{},", size/3) + `{}]`),
		"unknown field": submission(`"` + strings.Repeat("x", size) + `": 1`),
	} {
		t.Run(name, func(t *testing.T) {
			peak := watchHeap(t)
			var requests sync.WaitGroup
			for range atOnce {
				requests.Go(func() {
					a, err := s.try(t.Context(), http.MethodPost, "Submit", strings.NewReader(body),
						kind("application/json"))
					if err != nil || a.status != http.StatusBadRequest || len(a.body) > 2000 {
						t.Errorf("%d bytes with status %d, %v", len(a.body), a.status, err)
					}
				})
			}
			requests.Wait()
			if used := peak(); used > most {
				t.Errorf("%d MB for %d requests", used>>20, atOnce)
			} else {
				t.Logf("%d MB", used>>20)
			}
			s.nothing(t)
		})
	}
}

// watchHeap looks at what is in use until it is asked for the most it saw.
func watchHeap(t *testing.T) (most func() uint64) {
	t.Helper()
	runtime.GC()
	start, peak := inUse(), uint64(0)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				peak = max(peak, inUse())
			case <-done:
				return
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-ended
		return peak - min(start, peak)
	}
}

// inUse is the heap's size, garbage included.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
