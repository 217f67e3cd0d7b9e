package lockurl

import (
	"errors"
	"strings"

	"github.com/bedrock-go/bedrock/internal/redisurl"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// Schemes lists the accepted forms for people.
const Schemes = "mem:, " + redisurl.Schemes

// Error says which part of a URL is wrong. It never holds the URL itself.
type Error redisurl.Error

// Error implements error.
func (e *Error) Error() string { return "backend URL: " + (*redisurl.Error)(e).Error() }

// Location is a parsed URL: memory, or a Redis.
type Location struct {
	Memory bool
	redisurl.Location

	// Options are what the query says of locks; zero is the default of each.
	Options redislock.Options
}

// String returns the location without user name and password.
func (l *Location) String() string {
	if l.Memory {
		return "mem:"
	}
	return l.Location.String()
}

// Parse understands a URL.
func Parse(text string) (*Location, error) {
	if rest, ok := strings.CutPrefix(text, "mem:"); ok {
		if rest != "" && rest != "//" {
			return nil, &Error{Part: "scheme mem", Problem: "takes nothing after it: write mem:"}
		}
		return &Location{Memory: true}, nil
	}
	if err := checkScheme(text); err != nil {
		return nil, err
	}
	var q query
	location, err := redisurl.Parse(text, q.setters())
	if err != nil {
		return nil, asBackendError(err)
	}
	return &Location{Location: *location, Options: redislock.Options(q)}, nil
}

// checkScheme refuses what does not begin as the URL of a Redis. What ends after a colon is no host
// and port, so it may be a slip, such as memm:.
func checkScheme(text string) error {
	scheme, rest, _ := strings.Cut(text, ":")
	known, hint := redisurl.Kind(scheme).Known(), redisurl.Hint(scheme, "mem")
	slip := strings.HasSuffix(text, ":") && hint != "" && !known
	switch {
	case !strings.HasPrefix(rest, "//") && !slip:
		return &Error{Part: "scheme", Problem: "is missing; write one of " + Schemes}
	case !known:
		return &Error{Part: "scheme", Problem: "is not known" + hint + "; there are " + Schemes}
	}
	return nil
}

// asBackendError says that it is the URL of a backend that is wrong.
func asBackendError(err error) error {
	if problem, ok := errors.AsType[*redisurl.Error](err); ok {
		return (*Error)(problem)
	}
	return err
}
