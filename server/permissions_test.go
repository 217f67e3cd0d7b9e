package server_test

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/server/auth"
)

// least is what every procedure needs, written down a second time on purpose.
func least() map[string]string {
	return map[string]string{
		transactions + "Submit": "client", transactions + "Wait": "viewer", transactions + "Begin": "client",
		transactions + "Enlist": "client", transactions + "Commit": "client", transactions + "RollBack": "client",
		transactions + "Get": "viewer", transactions + "List": "viewer", transactions + "Watch": "viewer",
		transactions + "Act": "operator", transactions + "Subscribe": "operator",
		transactions + "Unsubscribe": "operator", transactions + "Subscribers": "viewer",
		locks + "Acquire": "client", locks + "Renew": "client", locks + "Release": "client", locks + "Listen": "viewer",
		locks + "Inspect": "viewer", locks + "Browse": "viewer", locks + "ForceRelease": "operator",
		locks + "Diagnose": "viewer", locks + "Identify": "viewer",
		locks + "AcquireAll": "client", locks + "Annotate": "client", locks + "Downgrade": "client",
		locks + "SetLatch": "client", locks + "CountDown": "client", locks + "DropLatch": "client",
		locks + "LatchCount": "viewer", locks + "Ask": "client", locks + "Attend": "client",
	}
}

// procedures are all calls the .proto files declare, and whether they are streams.
func procedures() map[string]bool {
	all := make(map[string]bool)
	for _, file := range []protoreflect.FileDescriptor{
		bedrockv1.File_bedrock_v1_transaction_service_proto, bedrockv1.File_bedrock_v1_lock_service_proto,
	} {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				all["/"+string(service.FullName())+"/"+string(method.Name())] = method.IsStreamingServer()
			}
		}
	}
	return all
}

// secured is a server with one token for every role, named like the role.
func secured(t *testing.T) *site {
	t.Helper()
	var file strings.Builder
	for _, role := range []string{"viewer", "client", "operator", "admin"} {
		file.WriteString(role + " " + role + "-name " + auth.HashToken("token-"+role) + "\n")
	}
	tokens, err := auth.ParseTokens(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	c := config(t)
	c.Tokens = tokens
	metrics := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("metrics")) }
	console := func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("console of " + auth.CredentialFrom(r.Context()).Name))
	}
	c.Mounts = []server.Mount{
		{Pattern: "GET /metrics", Handler: http.HandlerFunc(metrics)},
		{Pattern: "/", Handler: http.HandlerFunc(console)},
	}
	return serve(t, c, nil)
}

// TestEveryProcedureEveryRole walks all cells: a procedure without a line fails.
func TestEveryProcedureEveryRole(t *testing.T) {
	s := secured(t)
	ranks := []string{"", "viewer", "client", "operator", "admin"}
	rank := func(role string) int {
		for i, r := range ranks {
			if r == role {
				return i
			}
		}
		return -1
	}
	table := least()
	for procedure, stream := range procedures() {
		need, ok := table[procedure]
		if !ok {
			t.Errorf("%s: no role declared", procedure)
		}
		for i, role := range ranks {
			status := s.try(t, procedure, stream, role)
			switch {
			case i == 0 && status != http.StatusUnauthorized:
				t.Errorf("%s without a token: %d", procedure, status)
			case i > 0 && i < rank(need) && status != http.StatusForbidden:
				t.Errorf("%s as %s: %d, needs %s", procedure, role, status, need)
			case i >= rank(need) && (status == http.StatusUnauthorized || status == http.StatusForbidden):
				t.Errorf("%s as %s: %d, %s is enough", procedure, role, status, need)
			}
		}
	}
}

// try makes an empty call. A stream says in its body what became of it.
func (s *site) try(t *testing.T, procedure string, stream bool, role string) int {
	t.Helper()
	headers := []string{"Content-Type", "application/json"}
	body := "{}"
	if stream {
		headers[1], body = "application/connect+json", "\x00\x00\x00\x00\x02{}"
	}
	if role != "" {
		headers = append(headers, "Authorization", "Bearer token-"+role)
	}
	a := s.send(t, http.DefaultClient, http.MethodPost, procedure, body, headers...)
	switch {
	case strings.Contains(a.body, `"unauthenticated"`):
		return http.StatusUnauthorized
	case strings.Contains(a.body, `"permission_denied"`):
		return http.StatusForbidden
	default:
		return a.status
	}
}

func TestWrongTokens(t *testing.T) {
	s := secured(t)
	for _, header := range []string{
		"", "Bearer", "Bearer ", "Bearer wrong", "Bearer token-admi", "Bearer token-adminn", "token-admin",
		"Basic token-admin", "Bearer " + auth.HashToken("token-admin"),
	} {
		a := s.post(t, transactions+"List", `{}`, "Authorization", header)
		a.want(t, http.StatusUnauthorized, "unauthenticated")
		if a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: WWW-Authenticate is %q", header, a.header.Get("WWW-Authenticate"))
		}
	}
	s.post(t, transactions+"List", `{}`, "Authorization", "bearer token-viewer").want(t, http.StatusOK)
}

func TestPagesNeedRoles(t *testing.T) {
	s := secured(t)
	get := func(method, path string, headers ...string) answer {
		return s.send(t, http.DefaultClient, method, path, "", headers...)
	}
	for _, path := range []string{"/livez", "/readyz", "/healthz"} {
		get(http.MethodGet, path).want(t, 200, "ok")
	}
	get(http.MethodGet, "/metrics").want(t, 401)
	a := get(http.MethodGet, "/transactions")
	a.want(t, 401)
	if !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Basic") {
		t.Errorf("a browser cannot ask for the token: %q", a.header.Get("WWW-Authenticate"))
	}
	basic := "Basic OnRva2VuLXZpZXdlcg==" // :token-viewer
	get(http.MethodGet, "/metrics", "Authorization", basic).want(t, 200, "metrics")
	get(http.MethodGet, "/transactions", "Authorization", basic).want(t, 200, "console of viewer-name")
	get(http.MethodPost, "/transactions", "Authorization", basic).want(t, 403, "needs operator")
	get(http.MethodPost, "/transactions", "Authorization", "Bearer token-operator").want(t, 200, "console")
	get(http.MethodPost, "/transactions", "Authorization", "Bearer token-operator", "Sec-Fetch-Site",
		"cross-site").want(t, 403)
	get(http.MethodGet, "/bedrock.v1.TransactionService/Explode", "Authorization", "Bearer token-viewer").want(t, 403)
}
