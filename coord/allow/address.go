package allow

import (
	"net"
	"net/netip"
)

// subject is an address and what is peculiar about it.
type subject struct {
	addr netip.Addr
	// is says why no rule but one for an address admits it; empty: nothing special.
	is string
	// within is where such a rule's network must lie.
	within netip.Prefix
}

// opens reports whether a rule's network is narrow enough to be meant.
func (s subject) opens(rule netip.Prefix) bool {
	return s.is == "" || rule.Bits() >= s.within.Bits() && s.within.Contains(rule.Addr())
}

// special lists the ranges where no participant lives, but something else may.
// Narrower ranges come first.
var special = [...]struct {
	within netip.Prefix
	is     string
}{
	{netip.MustParsePrefix("100.100.100.200/32"), metadata},
	{netip.MustParsePrefix("168.63.129.16/32"), metadata},
	{netip.MustParsePrefix("169.254.169.254/32"), metadata},
	{netip.MustParsePrefix("192.0.0.192/32"), metadata},
	{netip.MustParsePrefix("fd00:ec2::254/128"), metadata},
	{netip.MustParsePrefix("fd20:ce::254/128"), metadata},
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
	{netip.MustParsePrefix("2001::/32"), tunnelled},
	{netip.MustParsePrefix("2002::/16"), tunnelled},
	{netip.MustParsePrefix("64:ff9b:1::/48"), tunnelled},
	{netip.MustParsePrefix("::/96"), tunnelled},
}

const (
	metadata  = "an address of a cloud's metadata"
	tunnelled = "an IPv4 address inside an IPv6 one"
)

// inspect finds out what is peculiar about an address.
func inspect(addr netip.Addr) subject {
	s := subject{addr: addr.WithZone("")}
	if addr.Is4In6() {
		s = subject{addr: addr.Unmap(), is: tunnelled, within: netip.MustParsePrefix("0.0.0.0/0")}
	}
	s.addr = translated(s.addr)
	if s.addr == netip.IPv6Loopback() {
		return s
	}
	for _, r := range special {
		if r.within.Contains(s.addr) {
			s.is, s.within = r.is, r.within
			return s
		}
	}
	return s
}

// translated returns the IPv4 address behind one of NAT64, which is how a network
// without IPv4 reaches everything.
func translated(addr netip.Addr) netip.Addr {
	if !netip.MustParsePrefix("64:ff9b::/96").Contains(addr) {
		return addr
	}
	b := addr.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}

// thisMachine reports whether an address leads back to where it is dialled. Interfaces
// come and go, so they are looked at each time.
func thisMachine(addr netip.Addr) bool {
	if addr.IsLoopback() || addr.IsUnspecified() {
		return true
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return true // not known, so not called
	}
	for _, a := range own {
		if network, ok := a.(*net.IPNet); ok && network.IP.Equal(addr.AsSlice()) {
			return true
		}
	}
	return false
}
