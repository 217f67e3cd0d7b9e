package http1

import (
	"bytes"
	"net/http"
)

// head is what a plain reply begins with. Almost all replies are plain: HTTP/1.1, no
// interim one, a known length or no body, and nothing that can be misunderstood.
type head struct {
	status int
	length int64 // of the body
	keep   bool  // the connection stays open
	size   int   // of the head itself, with the empty line
}

// verdict says what has come of a head.
type verdict uint8

const (
	partial verdict = iota // not all of it
	plain
	other // for http.ReadResponse
)

// parseHead reads a head. It must not accept anything that http.ReadResponse would
// refuse or take for something else. It judges line by line, so that it asks for more
// bytes only where http.ReadResponse does.
func parseHead(b []byte) (head, verdict) {
	h := head{length: -1, keep: true}
	line, n, v := cutLine(b)
	if v != plain {
		return h, v
	}
	if !h.setStatus(line) {
		return h, other
	}
	for h.size = n; ; {
		line, n, v = cutLine(b[h.size:])
		if v != plain {
			return h, v
		}
		h.size += n
		if len(line) == 0 {
			return h, h.setLength()
		}
		if !h.setField(line) {
			return h, other
		}
	}
}

// cutLine returns the first line and its length with its end.
func cutLine(b []byte) (line []byte, n int, v verdict) {
	end := bytes.IndexByte(b, '\n')
	switch {
	case end < 0:
		return nil, 0, partial
	case end == 0 || b[end-1] != '\r':
		return nil, 0, other
	default:
		return b[:end-1], end + 1, plain
	}
}

func (h *head) setStatus(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("HTTP/1.1 "))
	if !ok || len(rest) < 3 || len(rest) > 3 && rest[3] != ' ' || !printable(rest) {
		return false
	}
	status, ok := number(rest[:3])
	h.status = int(status)
	return ok && status >= http.StatusOK
}

// setField reads a header field. It knows all those that say how long a reply is and
// what becomes of its connection.
func (h *head) setField(line []byte) bool {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !token(name) || !printable(value) {
		return false
	}
	switch {
	case named(name, "Content-Length"):
		return h.setContentLength(trim(value))
	case named(name, "Connection"):
		return h.setConnection(trim(value))
	default:
		return !named(name, "Transfer-Encoding") && !named(name, "Trailer") && !named(name, "Pragma")
	}
}

func (h *head) setContentLength(value []byte) bool {
	if h.length >= 0 {
		return false
	}
	var ok bool
	h.length, ok = number(value)
	return ok
}

func (h *head) setConnection(value []byte) bool {
	if named(value, "close") {
		h.keep = false
		return true
	}
	return named(value, "keep-alive")
}

// setLength decides about the body when all fields are known.
func (h *head) setLength() verdict {
	if h.status == http.StatusNoContent || h.status == http.StatusNotModified {
		h.length = 0
	}
	if h.length < 0 {
		return other // it ends with the connection
	}
	return plain
}

// number reads digits, as many as fit for sure.
func number(text []byte) (int64, bool) {
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// named reports whether a text is a name, in whatever case.
func named(text []byte, name string) bool {
	return len(text) == len(name) && bytes.EqualFold(text, []byte(name))
}

func trim(value []byte) []byte { return bytes.Trim(value, " \t") }

// printable reports whether there are no control characters in a text but tabs.
func printable(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
