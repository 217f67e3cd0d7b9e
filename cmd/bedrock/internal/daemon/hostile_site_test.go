package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

const service = "/bedrock.v1.TransactionService/"

// site is a server as somebody sees it who has nothing but an HTTP client.
type site struct {
	address string
	http    *http.Client
	store   driver.Store
}

// open starts a server on a store of its own.
func open(t *testing.T, store driver.Store) *site {
	t.Helper()
	s := &site{store: store, http: &http.Client{
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if s.store == nil {
		s.store = memstore.New(nil)
	}
	t.Cleanup(s.http.CloseIdleConnections)
	s.address = run(t, func(c *daemon.Config) { c.Store = s.store })
	return s
}

// said is what the server answered.
type said struct {
	status  int
	body    string
	Code    string
	Message string
	Details []struct {
		Debug struct{ Kind, Field, Reason string }
	}
	ID     string
	Result struct {
		ID, Outcome, Reason string
		Pending, Parked     bool
	}
}

// post makes a call in JSON.
func (s *site) post(ctx context.Context, t *testing.T, procedure, body string) said {
	t.Helper()
	return s.send(ctx, t, http.MethodPost, procedure, strings.NewReader(body),
		http.Header{"Content-Type": {"application/json"}})
}

func (s *site) send(
	ctx context.Context, t *testing.T, method, procedure string, body io.Reader, header http.Header,
) said {
	t.Helper()
	a, err := s.try(ctx, method, procedure, body, header)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s *site) try(ctx context.Context, method, procedure string, body io.Reader, header http.Header) (said, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.address+service+procedure, body)
	if err != nil {
		return said{}, err
	}
	req.Header = header
	res, err := s.http.Do(req)
	if err != nil {
		return said{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return said{}, err
	}
	a := said{status: res.StatusCode, body: string(text)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		err = json.Unmarshal(text, &a)
	}
	return a, err
}

// refused checks an answer that is an error: its status, and what it says.
func (a said) refused(t *testing.T, status int, words ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %.300s", a.status, status, a.body)
	}
	for _, w := range words {
		if !strings.Contains(a.Message, w) {
			t.Errorf("message %.300q: want %q in it", a.Message, w)
		}
	}
	if len(a.body) > 2000 {
		t.Errorf("an answer of %d bytes", len(a.body))
	}
}

// nothing checks that no transaction was created.
func (s *site) nothing(t *testing.T) {
	t.Helper()
	if a := s.post(t.Context(), t, "List", `{"limit": 10}`); a.status != http.StatusOK ||
		strings.TrimSpace(a.body) != "{}" {
		t.Errorf("the list is not empty: %d %.300s", a.status, a.body)
	}
	if records, err := s.store.List(t.Context(), driver.Query{}); err != nil || len(records) > 0 {
		t.Errorf("%d records in the store, %v", len(records), err)
	}
}

// parsed is the definition in the body of a request.
func parsed(t *testing.T, body string) (txn.Definition, error) {
	t.Helper()
	m := new(bedrockv1.SubmitRequest)
	if err := protojson.Unmarshal([]byte(body), m); err != nil {
		t.Fatal(err)
	}
	return apiwire.DefinitionOf(m.GetDefinition())
}

// submission is the body of a request to submit a saga.
func submission(fields string) string {
	return `{"definition": {"id": "hostile", "mode": "saga", ` + fields + `}}`
}

// steps is the field branches with n entries.
func steps(n int, format string) string {
	var text strings.Builder
	text.WriteString(`"steps": [`)
	for i := range n {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, format, i)
	}
	text.WriteByte(']')
	return text.String()
}

// step is the field branches with one entry.
func step(fields string) string { return `"steps": [{"id": "a", ` + fields + `}]` }
