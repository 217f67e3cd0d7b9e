package httpguard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
	"github.com/bedrock-go/bedrock/lock/guard/httpguard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
)

func TestMain(m *testing.M) {
	guardtest.PlayHolder(openWriter)
	goleak.VerifyTestMain(m)
}

// serve starts a service with a shelf that is guarded by a store.
func serve(t *testing.T, store guard.Store, opts *httpguard.Options) (*httptest.Server, *guardtest.Shelf) {
	t.Helper()
	shelf := &guardtest.Shelf{}
	server := httptest.NewServer(httpguard.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			value, _ := io.ReadAll(r.Body)
			shelf.Put(string(value))
		}
		ticket, ok := guard.TicketFrom(r.Context())
		fmt.Fprint(w, ticket, ok)
	}), store, opts))
	t.Cleanup(server.Close)
	return server, shelf
}

// openWriter is a client of such a service.
func openWriter(_ context.Context, where []string) (guardtest.Writer, error) {
	client := &http.Client{Transport: httpguard.NewTransport(nil)}
	send := func(ctx context.Context, method, value string) error {
		request, err := http.NewRequestWithContext(ctx, method, where[0], strings.NewReader(value))
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if err := httpguard.Refusal(response); err != nil || response.StatusCode == http.StatusOK {
			return err
		}
		return errors.New(response.Status)
	}
	return guardtest.Client{
		Get: func(ctx context.Context) error { return send(ctx, http.MethodGet, "") },
		Put: func(ctx context.Context, value string) error { return send(ctx, http.MethodPut, value) },
	}, nil
}

func TestPausedHolderWrites(t *testing.T) {
	t.Parallel()
	guardtest.PausedHolderWrites(t, func(t *testing.T) guardtest.Resource {
		t.Helper()
		server, shelf := serve(t, guard.NewMemory(nil), nil)
		where := []string{server.URL}
		w, _ := openWriter(t.Context(), where)
		return guardtest.Resource{Writer: w, Where: where, Value: shelf.Value}
	})
}

// answerTo sends a request with these headers.
func answerTo(t *testing.T, url string, headers ...string) (status int, body string, h http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, strings.TrimSpace(string(text)), response.Header
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	store := guard.NewMemory(nil)
	server, _ := serve(t, store, nil)
	optional, _ := serve(t, store, &httpguard.Options{Optional: true})
	named, _ := serve(t, store, &httpguard.Options{NameFunc: func(r *http.Request) string { return r.URL.Path[1:] }})
	for _, c := range []struct {
		url     string
		headers []string
		status  int
		body    string
	}{
		{server.URL, []string{header.Name, "a%20b", header.Token, "7"}, 200, "{a b 7} true"},
		{server.URL, []string{header.Name, "a%20b", header.Token, "7"}, 200, "{a b 7} true"},
		{
			server.URL,
			[]string{header.Name, "a%20b", header.Token, "6"},
			412,
			`lock "a b": token 6 is stale: the resource knows 7`,
		},
		{server.URL, nil, 428, "want the headers Bedrock-Lock-Name and Bedrock-Lock-Token"},
		{optional.URL, nil, 200, "{ 0} false"},
		{server.URL, []string{header.Name, "a"}, 400, "Bedrock-Lock-Token: is missing"},
		{optional.URL, []string{header.Token, "1"}, 400, "Bedrock-Lock-Name: is missing"},
		{
			server.URL,
			[]string{header.Name, "a", header.Token, "0"},
			400,
			"token: is 0, allowed are 1 to 9223372036854775807",
		},
		{
			server.URL,
			[]string{header.Name, "a", header.Token, "1", header.Token, "2"},
			400,
			"Bedrock-Lock-Token: is there 2 times, the limit is 1",
		},
		{named.URL + "/x", []string{header.Name, "x", header.Token, "1"}, 200, "{x 1} true"},
		{
			named.URL + "/x",
			[]string{header.Name, "y", header.Token, "1"},
			403,
			"Bedrock-Lock-Name: this is guarded by another lock",
		},
	} {
		status, body, h := answerTo(t, c.url, c.headers...)
		if status != c.status || body != c.body {
			t.Errorf("%s %v: %d %s, want %d %s", c.url, c.headers, status, body, c.status, c.body)
		}
		if status == 412 && h.Get(header.Newest) != "7" {
			t.Errorf("newest: %v", h)
		}
	}
}

// broken is a store that does not answer.
type broken struct{}

func (broken) Announce(context.Context, guard.Ticket) error { return errors.New("secret address") }

func TestAStoreThatDoesNotAnswerLetsNobodyIn(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	server, shelf := serve(t, broken{}, &httpguard.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w, _ := openWriter(t.Context(), []string{server.URL})
	err := w.Write(t.Context(), guard.Ticket{Name: "a", Token: 1}, "value")
	if err == nil || err.Error() != "503 Service Unavailable" || shelf.Value(t) != "" {
		t.Errorf("%v, %q", err, shelf.Value(t))
	}
	if !strings.Contains(log.String(), "secret address") {
		t.Error(log.String())
	}
}

// TestTransport: what cannot be a ticket is not sent, the request is not changed, and without a ticket it goes as it
// is.
func TestTransport(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, guard.NewMemory(nil), &httpguard.Options{Optional: true})
	transport := httpguard.NewTransport(nil)
	for _, c := range []struct {
		ticket guard.Ticket
		wrong  bool
	}{{guard.Ticket{}, true}, {guard.Ticket{Name: "a", Token: 3}, false}} {
		ctx := guard.ContextWithTicket(t.Context(), c.ticket)
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.RoundTrip(request)
		if errors.Is(err, input.ErrInvalid) != c.wrong || len(request.Header) > 0 {
			t.Errorf("%+v: %v, %v", c.ticket, err, request.Header)
		}
		if err == nil {
			response.Body.Close()
		}
	}
	w, _ := openWriter(t.Context(), []string{server.URL})
	if err := w.(guardtest.Client).Put(t.Context(), "value"); err != nil {
		t.Error(err)
	}
}

// TestOthersPreconditionsAreNoRefusals: 412 is also for If-Match.
func TestOthersPreconditionsAreNoRefusals(t *testing.T) {
	t.Parallel()
	answer := &http.Response{StatusCode: http.StatusPreconditionFailed, Header: http.Header{}}
	if err := httpguard.Refusal(answer); err != nil {
		t.Error(err)
	}
}
