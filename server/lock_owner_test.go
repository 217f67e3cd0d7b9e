package server_test

import (
	"strings"
	"testing"
)

// TestRefusalTellsTheKey: who knows an owner can release its lock, so that nobody but
// the owner may be told.
func TestRefusalTellsTheKey(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "secret-of-a"}`).want(t, 200)
	for method, body := range map[string]string{
		"Acquire": `{"name": "a", "owner": "b"}`, "Inspect": `{"name": "a"}`, "Browse": `{"prefix": "a"}`,
	} {
		if a := s.post(t, locks+method, body); strings.Contains(a.body, "secret-of-a") ||
			!strings.Contains(a.body, "#") {
			t.Errorf("%s says %s", method, a.body)
		}
	}
}
