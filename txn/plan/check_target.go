package plan

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/bedrock-go/bedrock/txn"
)

const targetRule = "want a function's name, http(s)://host/path, grpc(s)://host:port/pkg.Service/Method, topic:NAME or async:TARGET"

func targets(b *txn.Branch) error {
	for _, t := range []struct {
		name string
		to   txn.Target
	}{{"do", b.Do}, {"confirm", b.Confirm}, {"undo", b.Undo}} {
		if err := target(t.to, true); err != nil {
			return under(t.name, err)
		}
	}
	return sent(b)
}

// Posted tells whether a target is reached through a message of its own, which brings no
// answer.
func Posted(t txn.Target) bool {
	scheme, _ := Scheme(t)
	return scheme == "async"
}

// sent refuses what is to follow a message. Going forward is done when that is durable, not
// when it arrives: what follows could come first, and an undo would then undo nothing.
func sent(b *txn.Branch) error {
	const early = "could come before what do sends through async:"
	switch {
	case !Posted(b.Do):
		return nil
	case b.Confirm != "":
		return problem("confirm", early)
	case b.Undo != "":
		return problem("undo", early)
	default:
		return nil
	}
}

// CheckTarget refuses what is not written like a target.
func CheckTarget(t txn.Target) error {
	if err := target(t, false); err != nil {
		return under("target", err)
	}
	return nil
}

// asked checks a target whose answer is waited for. A message of its own is delivered
// until it is taken; that it will be is no answer.
func asked(t txn.Target) error {
	if Posted(t) {
		return problem("", "%q: is asked a question, and async: brings no answer", clip(string(t)))
	}
	return target(t, false)
}

// target checks how a target is written, not whether it may be called.
func target(t txn.Target, mayBeEmpty bool) error {
	s := string(t)
	if s == "" {
		if mayBeEmpty {
			return nil
		}
		return problem("", "is missing; %s", targetRule)
	}
	if len(s) > 2048 || strings.ContainsFunc(s, unprintable) {
		return problem("", "%q: want at most 2048 printable bytes", clip(s))
	}
	switch scheme, rest := Scheme(t); scheme {
	case "", "topic":
		if !participantName(rest) {
			return problem("", "%q: %s", clip(s), targetRule)
		}
	case "async":
		if inner, _ := Scheme(txn.Target(rest)); inner == "async" {
			return problem("", "%q: one async: is enough", clip(s))
		}
		return target(txn.Target(rest), false)
	case "http", "https", "grpc", "grpcs":
		return address(s, scheme)
	default:
		return problem("", "%q: scheme %q is not known; %s", clip(s), clip(scheme), targetRule)
	}
	return nil
}

// Scheme splits a target into what says how to reach it and the rest; for URLs the
// rest is the whole. Functions have no scheme.
func Scheme(t txn.Target) (scheme, rest string) {
	s := string(t)
	scheme, rest, ok := strings.Cut(s, ":")
	switch {
	case !ok:
		return "", s
	case scheme == "topic" || scheme == "async":
		return scheme, rest
	default:
		return scheme, s
	}
}

func address(s, scheme string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return problem("", "%q is not a URL", clip(s))
	case u.Host == "":
		return problem("", "%q names no host", clip(s))
	case u.User != nil:
		return problem("", "must not contain a user or password")
	case u.Fragment != "":
		return problem("", "%q: a fragment is never sent", clip(s))
	case strings.HasPrefix(scheme, "grpc") && strings.Count(u.Path, "/") != 2:
		return problem("", "%q: want grpc://host:port/pkg.Service/Method", clip(s))
	}
	return nil
}

// participantName tells whether s can name a function or a topic. It cannot begin
// with a slash, as a URL without its scheme would.
func participantName(s string) bool {
	return consists(s, 128, "._-/") && s[0] != '/'
}

func letterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func unprintable(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }

// token tells whether s is a header name.
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !letterOrDigit(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// forbiddenHeader names headers that belong to the connection, to the caller's
// own credentials, or to the coordinator.
func forbiddenHeader(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "authorization", "cookie", "host", "connection", "content-length", "content-type", "content-encoding",
		"te", "trailer", "transfer-encoding", "upgrade", "keep-alive", "expect", "forwarded", "idempotency-key":
		return true
	}
	return strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "bedrock-") || strings.HasPrefix(name, "grpc-") ||
		strings.HasPrefix(name, "x-forwarded-")
}

// clip shortens what goes into an error.
func clip(s string) string {
	const longest = 80
	if len(s) <= longest {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:longest], len(s))
}
