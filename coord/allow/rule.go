package allow

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// A rule is about addresses or about names.
type rule struct {
	scheme string // empty: any
	port   uint16 // 0: any
	// prefix is set for addresses.
	prefix netip.Prefix
	// host is set for names: the name, "*.domain", or "*" for everything.
	host string
}

const localhost = "localhost"

func parseRule(text string) (rule, error) {
	var r rule
	rest := text
	if scheme, after, ok := strings.Cut(text, "://"); ok {
		if !known(scheme) {
			return rule{}, fmt.Errorf("scheme %q: want http, https, grpc or grpcs", scheme)
		}
		r.scheme, r.port, rest = scheme, defaultPort(scheme), after
	} else if strings.Contains(text, "/") {
		return parseNetwork(text)
	}
	host, port := splitPort(rest)
	if err := r.setPort(port); err != nil {
		return rule{}, err
	}
	return r, r.setHost(host)
}

func parseNetwork(text string) (rule, error) {
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return rule{}, errors.New("want a network such as 10.0.0.0/8, and no path behind a host")
	case prefix != prefix.Masked():
		return rule{}, fmt.Errorf("has bits beyond the network: did you mean %s?", prefix.Masked())
	case prefix.Addr().Is4In6():
		return rule{}, errors.New("write IPv4 networks as IPv4")
	}
	return rule{prefix: prefix}, nil
}

// splitPort cuts a port off, if there is one. An IPv6 address with a port stands in
// brackets.
func splitPort(text string) (host, port string) {
	if strings.HasPrefix(text, "[") {
		host, rest, closed := strings.Cut(text[1:], "]")
		if port, ok := strings.CutPrefix(rest, ":"); closed && ok {
			return host, port
		}
		if closed && rest == "" {
			return host, ""
		}
		return text, "" // which no host can be
	}
	if strings.Count(text, ":") == 1 {
		host, port, _ = strings.Cut(text, ":")
		return host, port
	}
	return text, ""
}

func (r *rule) setPort(text string) error {
	switch text {
	case "":
		return nil
	case "*":
		r.port = 0
		return nil
	}
	port, err := parsePort(text)
	r.port = port
	return err
}

func parsePort(text string) (uint16, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("port %q: want 1 to 65535", text)
	}
	return uint16(port), nil
}

func (r *rule) setHost(text string) error {
	if addr, err := netip.ParseAddr(text); err == nil {
		if addr.Is4In6() || addr.Zone() != "" {
			return errors.New("write IPv4 addresses as IPv4, and addresses without a zone")
		}
		r.prefix = netip.PrefixFrom(addr, addr.BitLen())
		return nil
	}
	name, wild := strings.CutPrefix(text, "*.")
	if text == "*" {
		r.host = text
		return nil
	}
	name, err := parseName(name)
	if err != nil {
		return err
	}
	r.host = name
	if wild {
		r.host = "*." + name
	}
	return nil
}

// String writes the rule so that it reads the same again.
func (r rule) String() string {
	host := r.host
	if r.prefix.IsValid() {
		if !r.prefix.IsSingleIP() {
			return r.prefix.String()
		}
		host = r.prefix.Addr().String()
		if r.prefix.Addr().Is6() {
			host = "[" + host + "]"
		}
	}
	text := host
	if r.scheme != "" {
		text = r.scheme + "://" + host
	}
	switch {
	case r.port != 0:
		return text + ":" + strconv.Itoa(int(r.port))
	case r.scheme != "":
		return text + ":*"
	default:
		return text
	}
}

// fits reports whether scheme and port are the rule's.
func (r rule) fits(e endpoint) bool {
	return (r.scheme == "" || r.scheme == e.scheme) && (r.port == 0 || r.port == e.port)
}

// names reports whether the rule mentions the endpoint's name.
func (r rule) names(e endpoint) bool {
	if domain, wild := strings.CutPrefix(r.host, "*."); wild {
		return strings.HasSuffix(e.host, "."+domain)
	}
	return r.host == "*" || r.host != "" && r.host == e.host
}

// mayResolve reports whether a name may turn out to have an address of the rule.
func (r rule) mayResolve(e endpoint) bool {
	return r.prefix.IsValid() && (!r.prefix.Addr().IsLoopback() || e.host == localhost)
}

// admits reports whether the rule allows an address to an endpoint.
func (r rule) admits(e endpoint, s subject) bool {
	switch {
	case r.host == "*":
		return s.is == ""
	case s.addr.IsLoopback() && !e.addr.IsValid() && e.host != localhost:
		return false
	case r.prefix.IsValid():
		return r.prefix.Contains(s.addr) && s.opens(r.prefix)
	default:
		return s.is == "" && !e.addr.IsValid() && r.names(e)
	}
}
