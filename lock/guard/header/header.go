// Package header is how a ticket travels from a holder to a resource: the names of its headers, the same in HTTP and
// gRPC, and the form of their values. Services written in other languages need to know nothing else.
//
//	Bedrock-Lock-Name    the lock's name; what is no visible ASCII character, and %, is percent-encoded UTF-8
//	Bedrock-Lock-Token   the token, a decimal number from 1 to 9223372036854775807
//	Bedrock-Lock-Newest  of a refusal, beside those of the ticket: the newest token that the resource knows
//
// A request has one ticket, and each header once. The answer to a ticket that is refused is 412 (Precondition Failed)
// in HTTP, and FAILED_PRECONDITION with the headers as trailers in gRPC.
package header

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/guard"
)

// The names of the headers, as net/http spells them.
const (
	Name   = "Bedrock-Lock-Name"
	Token  = "Bedrock-Lock-Token" //nolint:gosec // the name of a header
	Newest = "Bedrock-Lock-Newest"
)

// Write gives the headers of a ticket to set, one by one.
func Write(t guard.Ticket, set func(name, value string)) {
	set(Name, escape(t.Name))
	set(Token, strconv.FormatUint(t.Token, 10))
}

// Parse reads a ticket from the values of its headers. It reports false if there is none.
func Parse(values func(name string) []string) (t guard.Ticket, ok bool, err error) {
	names, tokens := values(Name), values(Token)
	if len(names) == 0 && len(tokens) == 0 {
		return guard.Ticket{}, false, nil
	}
	name, err := only(Name, names)
	if err != nil {
		return guard.Ticket{}, false, err
	}
	text, err := only(Token, tokens)
	if err != nil {
		return guard.Ticket{}, false, err
	}
	if t.Name, err = url.PathUnescape(name); err != nil {
		return guard.Ticket{}, false, input.Errorf(Name, "%q: want percent-encoding", name)
	}
	if t.Token, err = parseNumber(Token, text); err != nil {
		return guard.Ticket{}, false, err
	}
	if err := t.Check(); err != nil {
		return guard.Ticket{}, false, err
	}
	return t, true, nil
}

// WriteStale gives the headers of a refusal to set.
func WriteStale(e *guard.StaleError, set func(name, value string)) {
	Write(guard.Ticket{Name: e.Name, Token: e.Token}, set)
	set(Newest, strconv.FormatUint(e.Newest, 10))
}

// ParseStale reads a refusal. It returns nil if there is none, or none that can be read.
func ParseStale(values func(name string) []string) *guard.StaleError {
	t, ok, err := Parse(values)
	text, oneErr := only(Newest, values(Newest))
	newest, numberErr := parseNumber(Newest, text)
	if ok && errors.Join(err, oneErr, numberErr) == nil {
		return &guard.StaleError{Name: t.Name, Token: t.Token, Newest: newest}
	}
	return nil
}

func only(name string, values []string) (string, error) {
	switch {
	case len(values) == 0:
		return "", input.Errorf(name, "is missing")
	case len(values) > 1:
		return "", input.Errorf(name, "is there %d times, the limit is 1", len(values))
	}
	return values[0], nil
}

func parseNumber(name, text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, input.Errorf(name, "%.40q: want a decimal number", text)
	}
	return n, nil
}

// escape writes a name so that it passes through every proxy as it is.
func escape(name string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c > ' ' && c <= '~' && c != '%' {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}
