package http1

import (
	"net/http"
	"net/textproto"
	"strings"
)

// header returns the status of the last plain reply, with its text, and its header.
func (c *conn) header() (status string, h http.Header) {
	text := string(c.head) // one allocation for all
	line, rest, _ := strings.Cut(text, "\r\n")
	_, status, _ = strings.Cut(line, " ")
	count := strings.Count(rest, "\r\n") - 1
	h = make(http.Header, count)
	values := make([]string, 0, count) // and one for these
	for range count {
		line, rest, _ = strings.Cut(rest, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		name = textproto.CanonicalMIMEHeaderKey(name)
		if h[name] != nil {
			h[name] = append(h[name], strings.Trim(value, " \t"))
			continue
		}
		values = append(values, strings.Trim(value, " \t"))
		h[name] = values[len(values)-1 : len(values) : len(values)]
	}
	return status, h
}
