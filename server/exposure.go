package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// ErrExposed says that an address can be reached from other machines by anybody.
var ErrExposed = errors.New("server: refusing to serve a public address without TLS and tokens")

// CheckExposure refuses to listen where other machines can reach what is protected
// neither by TLS nor by tokens, unless that is wanted.
func CheckExposure(addr string, tls, tokens, insecure bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("server: address: %w", err)
	}
	if loopback(host) || insecure || tls && tokens {
		return nil
	}
	missing := make([]string, 0, 2)
	if !tls {
		missing = append(missing, "TLS")
	}
	if !tokens {
		missing = append(missing, "tokens")
	}
	return fmt.Errorf("%w: %s has no %s", ErrExposed, addr, strings.Join(missing, " and no "))
}

// OnlyLoopback tells whether an address to listen on, host:port, can be reached from
// this machine alone.
func OnlyLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && loopback(host)
}

// loopback tells whether a host is this machine for sure. An empty one is every
// address it has; a name but localhost is what some name server says.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
