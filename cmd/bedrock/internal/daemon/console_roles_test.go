package daemon_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/server/auth"
)

// TestTheConsoleLetsDoWhatTheAPILets: a client asks for locks, an operator takes them away.
func TestTheConsoleLetsDoWhatTheAPILets(t *testing.T) {
	var file strings.Builder
	for _, role := range []string{"viewer", "client", "operator"} {
		file.WriteString(role + " " + role + " " + auth.HashToken("token-"+role) + "\n")
	}
	tokens, err := auth.ParseTokens(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	address := run(t, func(c *daemon.Config) { c.Tokens = tokens })
	for role, want := range map[string][2]int{
		"viewer": {http.StatusForbidden, http.StatusForbidden}, "client": {http.StatusSeeOther, http.StatusForbidden},
		"operator": {http.StatusSeeOther, http.StatusSeeOther},
	} {
		got := [2]int{postAs(t, role, address+console.AskPath), postAs(t, role, address+"/lock/release")}
		if got != want {
			t.Errorf("%s: asking and taking are answered with %v, want %v", role, got, want)
		}
	}
}

// postAs sends the form of a lock as a role would.
func postAs(t *testing.T, role, address string) int {
	t.Helper()
	form := url.Values{"name": {"a/b"}, "reason": {"x"}, "confirmed": {"yes"}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer token-"+role)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
