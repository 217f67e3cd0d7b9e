package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A request begins as it does when the standard library writes all of it.
func TestStart(t *testing.T) {
	for _, text := range []string{
		"http://a.example/", "http://a.example", "http://a.example:81/b/c?d=e&f#g", "http://a.example/a%20b?%0d%0aX:1",
		"http://[::1]:81/", "http://[::1]/", "http://A.EXAMPLE./ä", "http://a.example?x", "http://ä.example/",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		start, err := Start(u, "bedrock")
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", "bedrock")
		var want bytes.Buffer
		if err := r.Write(&want); err != nil {
			t.Fatal(err)
		}
		if got := string(start) + "Content-Length: 0\r\n\r\n"; got != want.String() {
			t.Errorf("%s: %q, want %q", text, got, want.String())
		}
	}
	if start, err := Start(&url.URL{Host: "a", Opaque: "/\r\nX: 1"}, "x"); err == nil {
		t.Errorf("%q", start)
	}
}

// FuzzAppendField: whatever is appended, the request has that field, or none, and
// the others as they were.
func FuzzAppendField(f *testing.F) {
	f.Add("A", "b")
	f.Add("X\r\nEvil", "1")
	f.Add("X", "a\r\nEvil: 1\r\n\r\nPOST / HTTP/1.1")
	f.Add("", "\r\n")
	f.Add("X:", " \t\r\n x \n")
	f.Add("X Y", "\x00")
	f.Fuzz(func(t *testing.T, name, value string) {
		b := AppendField([]byte("POST / HTTP/1.1\r\nHost: a\r\n"), name, value)
		b = append(b, "Last: 1\r\n\r\nrest"...)
		in := bufio.NewReader(bytes.NewReader(b))
		lines := bytes.Count(b, []byte("\n"))
		if lines != bytes.Count(b, []byte("\r\n")) || lines != bytes.Count(b, []byte("\r")) || lines > 5 {
			t.Fatalf("%q", b)
		}
		r, err := http.ReadRequest(in)
		if err != nil { // the server refuses the value, or understands the field
			return
		}
		if r.Header.Get("Last") == "" || len(r.Header) > 2 {
			t.Errorf("%q: %v", b, r.Header)
		}
	})
}

// RoundTrip does what a http.Transport does.
func TestRoundTripIsThatOfTheLibrary(t *testing.T) {
	to := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header()["Date"] = nil
		w.Header()["X-Two"] = []string{"a", "b"}
		w.Header().Set("X-Seen",
			fmt.Sprint(r.Method, r.Host, r.URL, r.Header, r.ContentLength, r.TransferEncoding, len(body)))
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
		case "/early":
			w.WriteHeader(http.StatusEarlyHints)
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/large":
			_, _ = w.Write(bytes.Repeat([]byte("large"), 100_000))
		case "/close":
			w.Header().Set("Connection", "close")
			fallthrough
		default:
			_, _ = io.WriteString(w, "said")
		}
	})
	library := &http.Transport{DisableCompression: true}
	defer library.CloseIdleConnections()
	pool := newPool(t, nil)
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodHead, http.MethodDelete} {
		for _, path := range []string{"/", "/redirect", "/early", "/none", "/large", "/close"} {
			for _, length := range []int64{0, 4, -1} {
				one := to.JoinPath(path)
				want, got := answer(t, library, method, one, length), answer(t, pool, method, one, length)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s %s with %d: %s", method, path, length, diff)
				}
			}
		}
	}
}

// answer describes the answer to a request whose body is closed when all is sent.
func answer(t *testing.T, by http.RoundTripper, method string, to *url.URL, length int64) []any {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, to.String(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Own", "1")
	closed := make(chan struct{})
	if length != 0 {
		r.Body, r.ContentLength = closing{strings.NewReader("body"), closed}, length
	} else {
		close(closed)
	}
	reply, err := by.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	<-closed
	body, err := io.ReadAll(reply.Body)
	return []any{
		reply.Status, reply.StatusCode, reply.Proto, reply.Header, reply.ContentLength, reply.Close, reply.Request == r,
		string(body), err,
	}
}

type closing struct {
	io.Reader
	closed chan struct{}
}

func (c closing) Close() error { close(c.closed); return nil }

// What is meant for https does not leave in the open.
func TestOnlyHTTP(t *testing.T) {
	s := saying(t, empty)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+s.address, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := newPool(t, nil).RoundTrip(r)
	if err == nil {
		reply.Body.Close()
		t.Error("sent")
	}
}

// A request whose body cannot be read has not left, nor made a connection.
func TestABodyThatCannotBeRead(t *testing.T) {
	s := saying(t, empty)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url().String(),
		io.LimitReader(strings.NewReader("short"), 3))
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = 5
	_, err = newPool(t, nil).RoundTrip(r)
	if _, unsent := err.(*UnsentError); !unsent || s.connections.Load() != 0 { //nolint:errorlint // it is not wrapped
		t.Error(err)
	}
}
