package allow

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Dialer opens the connections for one scheme, as far as the rules allow.
type Dialer struct {
	rules  *Rules
	scheme string
	dialer net.Dialer
}

// Dialer returns a dialer for the targets of a scheme. It takes at most timeout.
func (r *Rules) Dialer(scheme string, timeout time.Duration) *Dialer {
	return &Dialer{rules: r, scheme: scheme, dialer: net.Dialer{Timeout: timeout}}
}

// Dial connects to host:port. Every address that the host resolves to is judged
// before the first packet to it.
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	e, err := makeEndpoint(d.scheme, host, port)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDenied, err)
	}
	if e.host == localhost {
		address = net.JoinHostPort(localhost, port) // "localhost." would be looked up elsewhere
	}
	dialer := d.dialer
	dialer.Control = func(_, resolved string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDenied, err)
		}
		return d.rules.checkAddr(e, to.Addr())
	}
	return dialer.DialContext(ctx, network, address)
}
