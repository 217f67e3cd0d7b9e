package server_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
)

// TestWhoIsAskedIsTold in the words of the API, and others are not.
func TestWhoIsAskedIsTold(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"Ask", `{"name": "a"}`).want(t, 200, "{}")
	me := s.stream(t, locks+"Attend", `{"client": "me"}`)
	if begun := me.message(t); begun != "{}" {
		t.Errorf("began with %s", begun)
	}
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "me:1", "mode": "shared"}`).want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "you:1", "mode": "shared"}`).want(t, 200)
	s.post(t, locks+"Ask", `{"name": "a", "reason": "a new release", "within": "90s"}`).want(t, 200, `"told":1`)
	asked := me.message(t)
	for _, want := range []string{
		`"kind":"asked"`, `"name":"a"`, `"owner":"me:1"`, `"reason":"a new release"`, `"within":"90s"`,
	} {
		if !strings.Contains(asked, want) {
			t.Errorf("told of %s, want %s", asked, want)
		}
	}
	s.post(t, locks+"ForceRelease", `{"name": "a", "reason": "r"}`).want(t, 200, `"held":true`)
	if got := me.message(t); !strings.Contains(got, `"kind":"taken"`) || !strings.Contains(got, "me:1") {
		t.Errorf("told of %s", got)
	}
}

// TestUnsoundPleasAreToldOn, and who attends for nobody.
func TestUnsoundPleasAreToldOn(t *testing.T) {
	s := serve(t, config(t), nil)
	for body, want := range map[string]string{
		`{}`: "name: is empty",
		`{"name": "a", "reason": "` + strings.Repeat("r", driver.MaxReason+1) + `"}`: "reason: ",
		`{"name": "a", "reason": "two\nlines"}`:                                      "reason: has a control character",
		`{"name": "a", "within": "25h"}`:                                             "within: ",
		`{"name": "a", "within": "-1s"}`:                                             "within: ",
		`{"name": "a", "by": "me"}`:                                                  "by: ",
	} {
		s.post(t, locks+"Ask", body).want(t, 400, "invalid_argument", want)
	}
	for body, want := range map[string]string{
		`{}`:                "client: is empty",
		`{"client": "a:1"}`: "client: has a colon",
		`{"client": "` + strings.Repeat("c", driver.MaxOwner+1) + `"}`: "client: ",
	} {
		if got := s.stream(t, locks+"Attend", body).message(t); !strings.Contains(got, want) {
			t.Errorf("%.40s: told %s, want %s", body, got, want)
		}
	}
}

// TestPleasLeaveNoTrace: whoever asks may end what somebody else does.
func TestPleasLeaveNoTrace(t *testing.T) {
	var log bytes.Buffer
	c := setup{
		Services: server.Services{Locks: memlock.NewBackend(nil)},
		Options:  server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))},
	}
	serve(t, c, nil).post(t, locks+"Ask", `{"name": "a", "reason": "because", "within": "90s"}`).want(t, 200)
	for _, want := range []string{"audit", "action=ask", "lock=a", "reason=because", "told=0", "within=1m30s"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s: %s", want, &log)
		}
	}
}

// silentStore is one whose holders cannot be asked, and whose settings cannot be checked.
type silentStore struct{ driver.Backend }

// TestWhatIsNotThereIsNotTold: who asks for what the store cannot do is told what that is, and whose store.
func TestWhatIsNotThereIsNotTold(t *testing.T) {
	c := config(t)
	c.Locks = silentStore{memlock.NewBackend(nil)}
	s := serve(t, c, nil)
	s.post(t, locks+"Ask", `{"name": "a"}`).want(t, 501, "this server keeps its locks in has no way to ask holders")
	s.post(t, locks+"Diagnose", `{}`).want(t, 501, "has no check of its settings")
}
