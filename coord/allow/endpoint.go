package allow

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// endpoint is where a target leads.
type endpoint struct {
	scheme string
	// host is the name in lower case, or empty if the target has an address.
	host string
	addr netip.Addr
	port uint16
}

// String leaves out everything that may be confidential, such as the path.
func (e endpoint) String() string {
	host := e.host
	if e.addr.IsValid() {
		host = e.addr.String()
	}
	return e.scheme + "://" + net.JoinHostPort(host, strconv.Itoa(int(e.port)))
}

func known(scheme string) bool {
	return slices.Contains([]string{"http", "https", "grpc", "grpcs"}, scheme)
}

// defaultPort is 0 for gRPC, which has none.
func defaultPort(scheme string) uint16 {
	switch scheme {
	case "http":
		return 80
	case "https":
		return 443
	default:
		return 0
	}
}

func parseEndpoint(target string) (endpoint, error) {
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return endpoint{}, errors.New("the target is not a URL")
	case !known(u.Scheme):
		return endpoint{}, fmt.Errorf("scheme %q: want http, https, grpc or grpcs", u.Scheme)
	case u.Opaque != "" || u.Host == "":
		return endpoint{}, errors.New("the target names no host")
	case u.User != nil:
		return endpoint{}, errors.New("the target contains a user or password")
	}
	return makeEndpoint(u.Scheme, u.Hostname(), u.Port())
}

func makeEndpoint(scheme, host, port string) (endpoint, error) {
	e := endpoint{scheme: scheme, port: defaultPort(scheme)}
	var err error
	if port != "" || e.port == 0 {
		if e.port, err = parsePort(port); err != nil {
			return endpoint{}, err
		}
	}
	if e.addr, err = netip.ParseAddr(host); err == nil {
		if e.addr.Zone() != "" {
			return endpoint{}, fmt.Errorf("address %s has a zone", e.addr)
		}
		return e, nil
	}
	e.host, err = parseName(host)
	return e, err
}

// parseName accepts a host name in the only form that every resolver understands
// alike. In particular 127.1, 2130706433, 0x7f000001 and letters that become dots or
// digits later are none.
func parseName(host string) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	labels := strings.Split(name, ".")
	if len(name) > 253 || slices.ContainsFunc(labels, badLabel) {
		return "", fmt.Errorf("host %q is not a name in ASCII", host)
	}
	if last := labels[len(labels)-1]; numeric(last) {
		return "", fmt.Errorf("host %q is a number; write addresses in their standard form", host)
	}
	return name, nil
}

func badLabel(label string) bool {
	return label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// numeric reports whether a label is what some resolvers take for (a part of) an
// IPv4 address: decimal, octal or hexadecimal.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
