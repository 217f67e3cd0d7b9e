package check

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

const (
	targetRule = "want a function's name, an address such as https://host/path, topic:NAME or async:TARGET"
	// askedRule leaves out who gives no answer of his own.
	askedRule = "want a function's name, or an address such as https://host/path"
)

func targets(b *txn.Branch) error {
	for _, t := range []struct {
		name string
		to   txn.Target
	}{{"do", b.Do}, {"confirm", b.Confirm}, {"undo", b.Undo}} {
		if t.to == "" {
			continue
		}
		if err := target(t.to, targetRule); err != nil {
			return under(t.name, err)
		}
	}
	return sent(b)
}

// sent refuses a confirm or an undo of a do that is sent as a message. Such a do is done
// when its message is durable, not when that arrives: what follows could come first, and an
// undo would then undo nothing.
func sent(b *txn.Branch) error {
	const early = "could come before what is sent through async:"
	_, async := b.Do.Async()
	switch {
	case !async:
		return nil
	case b.Confirm != "":
		return input.Errorf("confirm", early)
	case b.Undo != "":
		return input.Errorf("undo", early)
	default:
		return nil
	}
}

// Target refuses what is not written like a target.
func Target(t txn.Target) error {
	if err := target(t, targetRule); err != nil {
		return under("target", err)
	}
	return nil
}

// askedTarget checks a target whose answer is waited for. That rules out async: a message
// that will be delivered is no answer.
func askedTarget(t txn.Target) error {
	if _, async := t.Async(); async {
		return input.Errorf("", "%q: is asked a question, and async: brings no answer", clip(string(t)))
	}
	return target(t, askedRule)
}

// target checks how a target is written, not whether it may be called. The rule says what it
// may be.
func target(t txn.Target, rule string) error {
	s := string(t)
	if s == "" {
		return input.Errorf("", "is missing; %s", rule)
	}
	if len(s) > 2048 || strings.ContainsFunc(s, unprintable) {
		return input.Errorf("", "%q: want at most 2048 printable bytes", clip(s))
	}
	if to, async := t.Async(); async {
		if _, twice := to.Async(); twice {
			return input.Errorf("", "%q: one async: is enough", clip(s))
		}
		return target(to, rule)
	}
	name, topic := t.Topic()
	switch {
	case !topic && t.Scheme() != "":
		return address(s, t.Scheme(), rule)
	case !participantName(name):
		return input.Errorf("", "%q: %s", clip(s), rule)
	default:
		return nil
	}
}

// address checks what all callers demand of a target; the rest is theirs to check. Only a
// coordinator knows whether there is a caller for the scheme.
func address(s, scheme, rule string) error {
	rest := s[len(scheme)+1:]
	switch {
	case !schemeName(scheme) || rest == "":
		return input.Errorf("", "%q: %s", clip(s), rule)
	case !strings.HasPrefix(rest, "//"):
		return nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return input.Errorf("", "%q is not a URL", clip(s))
	case u.Host == "":
		return input.Errorf("", "%q names no host", clip(s))
	case u.User != nil:
		return input.Errorf("", "must not contain a user or password")
	case u.Fragment != "":
		return input.Errorf("", "%q: a fragment is never sent", clip(s))
	default:
		return nil
	}
}

// schemeName reports whether s can name a way to participants.
func schemeName(s string) bool {
	return consists(s, 32, "+-.") && s == strings.ToLower(s)
}

// participantName reports whether s can name a function or a topic. It cannot begin
// with a slash, as a URL without its scheme would.
func participantName(s string) bool {
	return consists(s, 128, "._-/") && s[0] != '/'
}

func letterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func unprintable(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }

// token reports whether s is a header name.
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !letterOrDigit(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// forbiddenHeader reports whether a header belongs to the connection, to the caller's own
// credentials, or to the coordinator.
func forbiddenHeader(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "authorization", "cookie", "host", "connection", "content-length", "content-type", "content-encoding",
		"te", "trailer", "transfer-encoding", "upgrade", "keep-alive", "expect", "forwarded", "idempotency-key":
		return true
	}
	return strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "bedrock-") ||
		strings.HasPrefix(name, "grpc-") || strings.HasPrefix(name, "x-forwarded-")
}

// clip shortens what goes into an error.
func clip(s string) string {
	const longest = 80
	if len(s) <= longest {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:longest], len(s))
}
