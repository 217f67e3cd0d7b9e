package auth

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// ErrExposed says that an address can be reached from other machines by anybody.
var ErrExposed = errors.New("auth: refusing to serve a public address without TLS and tokens")

// Exposure is what protects a server from those who can reach it.
type Exposure struct {
	TLS, Tokens bool
	// Insecure says that a server without them is wanted.
	Insecure bool
}

// Check refuses to listen where other machines can reach what is protected neither by TLS
// nor by tokens, unless that is wanted. The error is [ErrExposed].
func (e Exposure) Check(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("auth: address: %w", err)
	}
	if loopback(host) || e.Insecure || e.TLS && e.Tokens {
		return nil
	}
	missing := make([]string, 0, 2)
	if !e.TLS {
		missing = append(missing, "TLS")
	}
	if !e.Tokens {
		missing = append(missing, "tokens")
	}
	return fmt.Errorf("%w: %s has no %s", ErrExposed, addr, strings.Join(missing, " and no "))
}

// OnlyLoopback reports whether an address to listen on, host:port, can be reached from
// this machine alone.
func OnlyLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && loopback(host)
}

// loopback reports whether a host is certainly this machine. An empty host is every address
// the machine has, and any name but localhost is what some name server says it is.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
