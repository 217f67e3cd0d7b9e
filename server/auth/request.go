package auth

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// OfRequest finds out who makes a request. It is denied everything if a browser was misled
// into making it.
func (t *Tokens) OfRequest(r *http.Request) Pass {
	if t != nil {
		return t.Identify(tokenOf(r), r.RemoteAddr)
	}
	p := t.Identify("", r.RemoteAddr)
	if misled(r) {
		p.denied = &DeniedError{fmt.Sprintf(
			"host %.80q is not this server's: without tokens it answers to localhost and addresses only", r.Host)}
	}
	return p
}

// tokenOf finds the token of a request: a bearer token, or the password by which a
// browser sends it.
func tokenOf(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	_, password, _ := r.BasicAuth()
	return password
}

// misled reports whether a browser was made to believe that a foreign name is this
// machine: pages of that name could otherwise use a server that trusts everybody
// who reaches its loopback address.
func misled(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	own, _, err := net.SplitHostPort(addr.String())
	if err != nil || !loopback(own) {
		return false
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	host = strings.Trim(host, "[]")
	return !loopback(host) && net.ParseIP(host) == nil
}
