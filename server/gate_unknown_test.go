package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/server"
)

// TestWhatIsNoCallIsAnsweredInWords, whatever there is to blame.
func TestWhatIsNoCallIsAnsweredInWords(t *testing.T) {
	c := config(t)
	c.Limits = &server.Limits{Body: 4096}
	s := serve(t, c, nil)
	const accepted = "application/json, application/proto, or gRPC"
	for name, tc := range map[string]struct {
		method, path, kind, body string
		status                   int
		want                     string
	}{
		"misspelt procedure": {
			http.MethodPost, transactions + "Sumbit", "application/json", "{}", 404,
			"there is no procedure bedrock.v1.TransactionService/Sumbit; did you mean Submit?",
		},
		"unknown procedure": {
			http.MethodPost, locks + "Explode", "application/json", "{}", 404,
			"there is no procedure bedrock.v1.LockService/Explode; there are Acquire, AcquireAll, Annotate, " +
				"Ask, Attend, Browse, CountDown, Diagnose, Downgrade, DropLatch, ForceRelease, Identify, Inspect, " +
				"LatchCount, Listen, Release, Renew, SetLatch",
		},
		"unknown service": {
			http.MethodPost, "/bedrock.v1.Nonsense/X", "application/json", "{}", 404,
			"there is no procedure bedrock.v1.Nonsense/X; the services are LockService and TransactionService",
		},
		"no type": {
			http.MethodPost, transactions + "Get", "", "{}", 415, "Content-Type: is missing; want " + accepted,
		},
		"a form": {
			http.MethodPost, transactions + "Get", "application/x-www-form-urlencoded", "{}", 415,
			"Content-Type: application/x-www-form-urlencoded: want " + accepted,
		},
		"method": {http.MethodGet, transactions + "Get", "", "", 405, "method: GET: want POST"},
		"too large": {
			http.MethodPost, transactions + "Get", "application/json", strings.Repeat(" ", 4097), 429,
			"the request has more than 4096 bytes, which is the limit body of this server",
		},
		"much too large": {
			http.MethodPost, transactions + "Get", "application/json", strings.Repeat(" ", 1<<20), 429,
			"the request has more than 4096 bytes, which is the limit body of this server",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.send(t, http.DefaultClient, tc.method, tc.path, tc.body, "Content-Type", tc.kind)
			a.want(t, tc.status)
			if got, _ := a.at("message").(string); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
