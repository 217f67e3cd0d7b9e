package httpguard

import (
	"fmt"
	"net/http"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
)

// NewTransport returns a transport that adds to each request the ticket that its context carries, see
// [guard.TicketFrom]. A request without one is sent as it is. base does the rest; nil stands for
// [http.DefaultTransport].
func NewTransport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{base}
}

type transport struct{ base http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ticket, ok := guard.TicketFrom(r.Context())
	if !ok {
		return t.base.RoundTrip(r)
	}
	if err := ticket.Check(); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // as a transport has to in any case
		}
		return nil, fmt.Errorf("httpguard: %w", err)
	}
	r = r.Clone(r.Context()) // a transport must not change what it is given
	if r.Header == nil {
		r.Header = make(http.Header)
	}
	header.Write(ticket, r.Header.Set)
	return t.base.RoundTrip(r)
}

// Refusal returns a [*guard.StaleError] if a response says that the request's token was stale, else nil.
func Refusal(r *http.Response) error {
	if r == nil || r.StatusCode != http.StatusPreconditionFailed {
		return nil
	}
	if stale := header.ParseStale(r.Header.Values); stale != nil {
		return stale
	}
	return nil
}
