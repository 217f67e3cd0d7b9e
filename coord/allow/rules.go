package allow

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// ErrDenied means that the rules do not allow an address, and nothing was sent there.
var ErrDenied = errors.New("not allowed")

// Rules say who may be called. They never change. Without a single rule, nobody.
type Rules struct {
	rules []rule
	own   uint16 // a port of this machine that is never called; 0: none
}

// Parse makes rules of their texts; the package comment says how they are written.
func Parse(texts ...string) (*Rules, error) {
	r := &Rules{rules: make([]rule, 0, len(texts))}
	for _, text := range texts {
		parsed, err := parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", text, err)
		}
		r.rules = append(r.rules, parsed)
	}
	return r, nil
}

// Everyone allows all that is not refused whatever the rules. It is for programs
// that write all targets themselves.
func Everyone() *Rules { return &Rules{rules: []rule{{host: "*"}}} }

// Loopback allows this machine only.
func Loopback() *Rules {
	return &Rules{rules: []rule{
		{host: localhost},
		{prefix: netip.MustParsePrefix("127.0.0.0/8")},
		{prefix: netip.MustParsePrefix("::1/128")},
	}}
}

// Except returns rules that refuse a port of this machine, under whatever address or
// name: the caller's own. Calls made by a server to itself would come from an address
// that it may trust more than the client who asked for them.
func (r *Rules) Except(port uint16) *Rules { return &Rules{rules: r.rules, own: port} }

// String lists the rules in the form Parse reads.
func (r *Rules) String() string {
	texts := make([]string, len(r.rules))
	for i, rule := range r.rules {
		texts[i] = rule.String()
	}
	return strings.Join(texts, " ")
}

// Check refuses a target that may not be called, such as https://host/path. Whether
// a name that no rule mentions resolves to an address of a rule is only known when
// it is dialled.
func (r *Rules) Check(target string) error {
	e, err := parseEndpoint(target)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDenied, err)
	case e.addr.IsValid():
		return r.checkAddr(e, e.addr)
	default:
		return r.checkName(e)
	}
}

func (r *Rules) checkName(e endpoint) error {
	if e.host == localhost && e.port == r.own {
		return deniedAsOwn(e)
	}
	for _, rule := range r.rules {
		if rule.fits(e) && (rule.names(e) || rule.mayResolve(e)) {
			return nil
		}
	}
	return fmt.Errorf("%w: no rule for %s", ErrDenied, e)
}

// checkAddr judges the address of an endpoint, or one its name has resolved to.
func (r *Rules) checkAddr(e endpoint, addr netip.Addr) error {
	s := inspect(addr)
	if r.own != 0 && e.port == r.own && thisMachine(s.addr) {
		return deniedAsOwn(e)
	}
	for _, rule := range r.rules {
		if rule.fits(e) && rule.admits(e, s) {
			return nil
		}
	}
	if s.is != "" {
		return fmt.Errorf("%w: %s is %s; that takes a rule for the very address", ErrDenied, addr, s.is)
	}
	if e.addr.IsValid() {
		return fmt.Errorf("%w: no rule for %s", ErrDenied, e)
	}
	return fmt.Errorf("%w: %s resolves to %s, and no rule allows that", ErrDenied, e, addr)
}

func deniedAsOwn(e endpoint) error {
	return fmt.Errorf("%w: %s is the server itself", ErrDenied, e)
}
