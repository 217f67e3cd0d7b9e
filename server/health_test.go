package server_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"

	"github.com/bedrock-go/bedrock/txn"
)

// TestStoreThatIsAwayRestartsServers: a probe of life must not fail with the store; who
// sends calls must learn that they are not worth sending.
func TestStoreThatIsAwayRestartsServers(t *testing.T) {
	c := config(t)
	c.Inspector = broken{}
	s := serve(t, c, nil)
	get := func(path string) answer { return s.send(t, http.DefaultClient, http.MethodGet, path, "") }
	get("/livez").want(t, 200, "ok")
	get("/readyz").want(t, 503, "the store cannot be reached")
	get("/healthz").want(t, 200, "the store cannot be reached")
	s.post(t, "/grpc.health.v1.Health/Check", `{}`).want(t, 200, "NOT_SERVING")
}

// TestLocksThatAreAwayAreToldAsTheStore: who runs the server would look at the wrong one.
func TestLocksThatAreAwayAreToldAsTheStore(t *testing.T) {
	c := config(t)
	c.Locks = frozen{c.Locks}
	s := serve(t, c, nil)
	for path, status := range map[string]int{"/readyz": 503, "/healthz": 200} {
		s.send(t, http.DefaultClient, http.MethodGet, path, "").
			want(t, status, "the backend of locks cannot be reached")
	}
}

// readOnly is a coordinator whose store can be read and not written.
type readOnly struct {
	txn.Coordinator
	err error
}

func (r *readOnly) Trouble() error { return r.err }

// TestStoreThatCannotWriteIsNotReady: that it can be read says nothing to who submits.
func TestStoreThatCannotWriteIsNotReady(t *testing.T) {
	c := config(t)
	sick := &readOnly{c.Coordinator, errors.New("/secret/path: disk is full")}
	c.Coordinator = sick
	s := serve(t, c, nil)
	get := func(path string) answer { return s.send(t, http.DefaultClient, http.MethodGet, path, "") }
	get("/livez").want(t, 200, "ok")
	for path, status := range map[string]int{"/readyz": 503, "/healthz": 200} {
		a := get(path)
		a.want(t, status, "fails to do its work")
		if strings.Contains(a.body, "secret") {
			t.Errorf("%s tells everybody: %s", path, a.body)
		}
	}
	sick.err = nil
	get("/readyz").want(t, 200, "ok")
}

func TestHealthService(t *testing.T) {
	s := serve(t, config(t), nil)
	for _, service := range []string{"", "bedrock.v1.TransactionService", "bedrock.v1.LockService"} {
		s.post(t, "/grpc.health.v1.Health/Check", `{"service": "`+service+`"}`).want(t, 200, `STATUS_SERVING"`)
	}
	s.post(t, "/grpc.health.v1.Health/Check", `{"service": "x"}`).want(t, 404, "no such service")
}

// TestReflection: tools know the API without its files, if they have a token.
func TestReflection(t *testing.T) {
	s := secured(t)
	list := func(token string) ([]string, error) {
		bearer := http.Header{"Authorization": {"Bearer " + token}}
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(true)
		defer transport.CloseIdleConnections()
		stream := grpcreflect.NewClient(&http.Client{Transport: transport}, s.url, connect.WithGRPC()).
			NewStream(t.Context(), grpcreflect.WithRequestHeaders(bearer))
		defer stream.Close()
		names, err := stream.ListServices()
		texts := make([]string, len(names))
		for i, name := range names {
			texts[i] = string(name)
		}
		return texts, err
	}
	names, err := list("token-viewer")
	if err != nil || !slices.Contains(names, "bedrock.v1.LockService") {
		t.Errorf("services %v, %v", names, err)
	}
	if _, err := list("wrong"); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("without a token: %v", err)
	}
}
