package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/server/auth"
)

// tokens are those of one client for each role, named like the role.
func tokens(t *testing.T) *auth.Tokens {
	t.Helper()
	var file strings.Builder
	for _, role := range []string{"viewer", "client", "operator", "admin"} {
		file.WriteString(role + " " + role + "-name " + auth.HashToken("token-"+role) + "\n")
	}
	known, err := auth.ParseTokens(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// TestAListenerOfItsOwnAsksTheSameRights: what protocol a token comes by makes no difference.
func TestAListenerOfItsOwnAsksTheSameRights(t *testing.T) {
	known := tokens(t)
	for least := auth.Nobody; least <= auth.Admin; least++ {
		for role := auth.Viewer; role <= auth.Admin; role++ {
			pass := known.Identify("token-"+role.String(), "10.0.0.7:1234")
			ctx, err := pass.Admit(t.Context(), least)
			if _, denied := errors.AsType[*auth.DeniedError](err); denied != (role < least) {
				t.Errorf("%s for what needs %s: %v", role, least, err)
			}
			want := auth.Credential{Name: role.String() + "-name", Role: role, Remote: "10.0.0.7:1234"}
			if err == nil && auth.CredentialFrom(ctx) != want {
				t.Errorf("the context says %+v, want %+v", auth.CredentialFrom(ctx), want)
			}
		}
		for _, token := range []string{"", "wrong", auth.HashToken("token-admin")} {
			pass := known.Identify(token, "10.0.0.7:1234")
			if _, err := pass.Admit(t.Context(),
				least); errors.Is(err, auth.ErrUnauthenticated) != (least > auth.Nobody) {
				t.Errorf("token %q for what needs %s: %v", token, least, err)
			}
		}
	}
	if who := auth.CredentialFrom(t.Context()); who != (auth.Credential{}) {
		t.Errorf("a context of no call says %+v", who)
	}
}

// TestTheTokenOfARequest: programs show a bearer token, browsers a password.
func TestTheTokenOfARequest(t *testing.T) {
	known := tokens(t)
	for header, role := range map[string]auth.Role{
		"Bearer token-client": auth.Client, "bearer  token-client ": auth.Client,
		"Basic OnRva2VuLXZpZXdlcg==": auth.Viewer, // :token-viewer
		"Basic token-viewer":         auth.Nobody, "token-viewer": auth.Nobody, "": auth.Nobody,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header.Set("Authorization", header)
		if pass := known.OfRequest(r); pass.Role != role || pass.Remote != r.RemoteAddr {
			t.Errorf("%q is %+v, want %s", header, pass.Credential, role)
		}
	}
}

// loopback is where a listener of this machine listens.
type loopback struct{}

func (loopback) Network() string { return "tcp" }
func (loopback) String() string  { return "127.0.0.1:7700" }

// TestWithoutTokensBrowsersAreNotMisled: everybody may do everything, but for a page whose
// name was made to point at this machine.
func TestWithoutTokensBrowsersAreNotMisled(t *testing.T) {
	var none *auth.Tokens
	for host, good := range map[string]bool{
		"localhost:7700": true, "127.0.0.1": true, "[::1]:7700": true, "evil.example:7700": false,
		"app.localhost": false,
	} {
		own := context.WithValue(t.Context(), http.LocalAddrContextKey, loopback{})
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody).WithContext(own)
		r.Host = host
		pass := none.OfRequest(r)
		if _, err := pass.Admit(own, auth.Admin); (err == nil) != good {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestWhatLastsEndsWithItsToken: a token that was taken out ends what is under way with it,
// and one whose role has become too small does, too; that of others goes on.
func TestWhatLastsEndsWithItsToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	line := func(role, name string) string { return role + " " + name + " " + auth.HashToken(name) + "\n" }
	write(t, file, line("client", "kept")+line("client", "gone")+line("client", "demoted"))
	synctest.Test(t, func(t *testing.T) {
		known, err := new(auth.Files).Tokens(file)
		if err != nil {
			t.Fatal(err)
		}
		causes := make(map[string]func() error)
		for _, name := range []string{"kept", "gone", "demoted"} {
			call := callOf(t, known, name)
			causes[name] = func() error { return context.Cause(call) }
		}
		<-time.After(10 * time.Second)
		write(t, file, line("client", "kept")+line("viewer", "demoted")+"# and nobody else\n")
		<-time.After(10 * time.Second)
		for name, causeOf := range causes {
			if cause := causeOf(); errors.Is(cause, auth.ErrRevoked) != (name != "kept") {
				t.Errorf("%s: %v", name, cause)
			}
		}
	})
}

// callOf is the context of a call under way.
func callOf(t *testing.T, known *auth.Tokens, name string) context.Context {
	t.Helper()
	pass := known.Identify(name, "")
	admitted, err := pass.Admit(t.Context(), auth.Client)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := auth.UntilRevoked(admitted)
	t.Cleanup(cancel)
	return ctx
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
