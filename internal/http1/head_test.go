package http1

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlainHeads(t *testing.T) {
	for text, want := range map[string]head{
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n":                      {200, 0, true, 38},
		"HTTP/1.1 200\r\nContent-Length:7\t\r\n\r\n1234567":                 {200, 7, true, 35},
		"HTTP/1.1 409 \xff no!\r\ncontent-length: 08\r\nA:\r\nA: b\r\n\r\n": {409, 8, true, 52},
		"HTTP/1.1 204 None\r\n\r\n":                                         {204, 0, true, 21},
		"HTTP/1.1 304 None\r\nContent-Length: 5\r\n\r\n":                    {304, 0, true, 40},
		"HTTP/1.1 999 \r\nCONNECTION: Close\r\nContent-Length: 1\r\n\r\n":   {999, 1, false, 55},
		"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 999999999999999999\r\n\r\n": {
			200, 999999999999999999, true, 79,
		},
	} {
		if got, v := parseHead([]byte(text)); v != plain || got != want {
			t.Errorf("%q: %d, %+v; want %+v", text, v, got, want)
		}
		for n := range want.size {
			if _, v := parseHead([]byte(text[:n])); v != partial {
				t.Errorf("%q: verdict %d", text[:n], v)
			}
		}
	}
}

// What is not plain is known at the end of its line, for the rest may never come.
func TestOtherHeads(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, text := range []string{
		"\n", "\r\n", "x\r\n", "200 OK\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/2.0 200 OK\r\n", "http/1.1 200 OK\r\n",
		"HTTP/1.1  200 OK\r\n",
		"HTTP/1.1\t200 OK\r\n", "HTTP/1.1 100 Go on\r\n", "HTTP/1.1 101 Switch\r\n", "HTTP/1.1 20\r\n",
		"HTTP/1.1 +20 OK\r\n",
		"HTTP/1.1 2000 OK\r\n", "HTTP/1.1 200\tOK\r\n", "HTTP/1.1 200 OK\n", "HTTP/1.1 200 O\rK\r\n",
		"HTTP/1.1 200 O\x00K\r\n",
		ok + "Content-Length: 1\n", ok + "\n", ok + "\r\n", ok + " A: b\r\n", ok + "A: b\r\n c\r\n",
		ok + "A: b\r\n\tc\r\n",
		ok + "A\r\n", ok + ": b\r\n", ok + "A : b\r\n", ok + "A\x00: b\r\n", ok + "Ä: b\r\n", ok + "A: \x00\r\n",
		ok + "A: b\x7f\r\n", ok + "A: b\r\r\n",
		ok + "Content-Length: \r\n", ok + "Content-Length: +1\r\n", ok + "Content-Length: -1\r\n",
		ok + "Content-Length: 1 1\r\n",
		ok + "Content-Length: 1,1\r\n", ok + "Content-Length: 0x1\r\n", ok + "Content-Length: 9999999999999999999\r\n",
		ok + "Content-Length: 1\r\ncontent-length: 1\r\n", ok + "Content-Length: 1\r\nContent-Length: 2\r\n",
		ok + "Transfer-Encoding: chunked\r\n", ok + "transfer-encoding: identity\r\n", ok + "Trailer: A\r\n",
		ok + "Pragma: no-cache\r\n",
		ok + "Connection: upgrade\r\n", ok + "Connection: close, x\r\n", ok + "Connection:\r\n",
	} {
		if got, v := parseHead([]byte(text)); v != other {
			t.Errorf("%q: %d, %+v", text, v, got)
		}
	}
}

// source is a connection on which a text arrives, and counts how often it is asked.
type source struct {
	net.Conn
	io.Reader
	asked int
}

func (s *source) Read(p []byte) (int, error) { s.asked++; return s.Reader.Read(p) }

func (*source) Close() error                { return nil }
func (*source) SetDeadline(time.Time) error { return nil }

// told is what can be told of a reply.
type told struct {
	Failed bool
	Status int
	Text   string
	Length int64
	Keep   bool
	Header http.Header
	Body   string
	Broken bool // the body
	Rest   int  // how many bytes came after the reply
	Asked  int  // how often the connection was asked for the head
}

// byUs reads a reply as a Pool does.
func byUs(text []byte, reader func(io.Reader) io.Reader) told {
	s := &source{Reader: reader(bytes.NewReader(text))}
	c := newConn(s, New(Options{}), "")
	r, err := c.receive(nil)
	if err != nil {
		return told{Failed: true}
	}
	asked := s.asked
	r.conn, r.stop = c, func() bool { return false }
	full := r.response(nil)
	body, err := io.ReadAll(full.Body)
	_ = full.Body.Close()
	rest, _ := io.Copy(io.Discard, c.in)
	return tell(full, r.keep, asked, body, err, int(rest))
}

// byTheLibrary reads a reply as http.ReadResponse does.
func byTheLibrary(text []byte, reader func(io.Reader) io.Reader) told {
	s := &source{Reader: reader(bytes.NewReader(text))}
	in := bufio.NewReader(s)
	for {
		full, err := http.ReadResponse(in, nil)
		if err != nil {
			return told{Failed: true}
		}
		if full.StatusCode < http.StatusOK && full.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		asked := s.asked
		body, err := io.ReadAll(full.Body)
		rest, _ := io.Copy(io.Discard, in)
		return tell(full, !full.Close && full.StatusCode != http.StatusSwitchingProtocols, asked, body, err, int(rest))
	}
}

func tell(r *http.Response, keep bool, asked int, body []byte, err error, rest int) told {
	return told{
		Status: r.StatusCode, Text: r.Status, Length: r.ContentLength, Keep: keep, Header: r.Header,
		Body: string(body), Broken: err != nil, Rest: rest, Asked: asked,
	}
}

func whole(r io.Reader) io.Reader { return r }

// FuzzReply compares our reading with the library's: of everything at once, and of one
// byte at a time, where ours must not ask for more before it has the head.
func FuzzReply(f *testing.F) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, text := range []string{
		"", one, empty, one + one, ok, ok + "\r\n", ok + "\n", ok + "Content-Length: 5\r\n\r\nabc",
		"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\n1",
		"HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 304 No\r\n\r\n",
		"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1",
		"HTTP/1.1 103 Hints\r\nA: b\r\n\r\n" + one, "HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\nabc",
		"HTTP/1.1 099 ?\r\n\r\n",
		ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n",
		ok + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n",
		ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		ok + "Content-Length: +1\r\n\r\na",
		ok + "Connection: close\r\nContent-Length: 1\r\n\r\na",
		ok + "Connection: a, close\r\nContent-Length: 1\r\n\r\na",
		ok + "Connection: Keep-Alive\r\nContent-Length: 1\r\n\r\na",
		ok + "A: b\r\n c\r\nContent-Length: 1\r\n\r\na", ok + "A : b\r\nContent-Length: 1\r\n\r\na",
		ok + "A: b\nContent-Length: 1\n\na", ok + "A:\x00\r\n\r\n",
		ok + "set-cookie: a\r\nSet-Cookie: \tb \r\nX_y: \xff\r\nContent-Length: 1 \r\n\r\na",
		ok + "Pragma: no-cache\r\nTrailer: A\r\nContent-Length: 0\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) >= maxHeaders {
			return // which only ours refuses
		}
		for name, reader := range map[string]func(io.Reader) io.Reader{"whole": whole, "bytes": iotest.OneByteReader} {
			us, library := byUs(text, reader), byTheLibrary(text, reader)
			if us.Asked > library.Asked {
				t.Errorf("%s: asked %d times, want %d", name, us.Asked, library.Asked)
			}
			us.Asked = library.Asked
			if diff := cmp.Diff(library, us); diff != "" {
				t.Errorf("%s: %q: %s", name, text, diff)
			}
		}
	})
}
