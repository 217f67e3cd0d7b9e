package lockurl

import (
	"errors"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/serverurl"
	"github.com/bedrock-go/bedrock/lock"
)

// Schemes lists the accepted forms for people.
const Schemes = "mem:, sqlite:FILE, mysql://, postgres://, " + serverurl.Schemes

// Error says which part of a URL is wrong. It never holds the URL itself.
type Error serverurl.Error

// Error implements error.
func (e *Error) Error() string { return "backend URL: " + (*serverurl.Error)(e).Error() }

// Location is a parsed URL.
type Location struct {
	place

	// TTL is what the URL says of it, else 0.
	TTL time.Duration
}

// Memory reports whether the locks are only in this process.
func (l *Location) Memory() bool {
	_, memory := l.place.(*memory)
	return memory
}

// Redis returns what is known of it if it is a Redis, else nil.
func (l *Location) Redis() *Redis {
	r, _ := l.place.(*Redis)
	return r
}

// Server is the host and port of the one server there, if it can be spoken to by another way as well: neither by
// several, nor by one that has to prove who it is.
func (l *Location) Server() string {
	if at, ok := l.place.(reachable); ok {
		return at.onlyServer()
	}
	return ""
}

// Parse understands a URL.
func Parse(text string) (*Location, error) {
	scheme, rest, found := strings.Cut(text, ":")
	if !found {
		return nil, &Error{Part: "scheme", Problem: "is missing; write one of " + Schemes}
	}
	location, err := parseKind(scheme, rest, text)
	if err != nil {
		return nil, asBackendError(err)
	}
	return location, nil
}

func parseKind(scheme, rest, text string) (*Location, error) {
	switch scheme {
	case "mem":
		return parseMemory(rest)
	case "sqlite":
		return parseFile(rest)
	case "mysql", "mariadb":
		return parseDatabase(mysqlKind{}, scheme, text)
	case "postgres", "postgresql":
		return parseDatabase(postgresKind{}, scheme, text)
	}
	if err := checkScheme(scheme, rest); err != nil {
		return nil, err
	}
	switch serverurl.Kind(scheme) {
	case serverurl.Etcd:
		return parseEtcd(text)
	case serverurl.ZooKeeper:
		return parseZooKeeper(text)
	default:
		return parseRedis(text)
	}
}

// checkScheme refuses what does not begin as the URL of servers. What ends after a colon is no host and port, so it may
// be a slip, such as memm:.
func checkScheme(scheme, rest string) error {
	known := serverurl.Kind(scheme).Known()
	hint := serverurl.Hint(scheme, serverurl.Kinds(), "mem", "sqlite", "mysql", "mariadb", "postgres", "postgresql")
	slip := rest == "" && hint != "" && !known
	switch {
	case !strings.HasPrefix(rest, "//") && !slip:
		return &Error{Part: "scheme", Problem: "is missing; write one of " + Schemes}
	case !known:
		return &Error{Part: "scheme", Problem: "is not known" + hint + "; there are " + Schemes}
	}
	return nil
}

// setTTL reads an option that all kinds have.
func (l *Location) setTTL(v string) string { return setDuration(&l.TTL, v, lock.MinTTL, lock.MaxTTL) }

// asBackendError says that it is the URL of a backend that is wrong.
func asBackendError(err error) error {
	if problem, ok := errors.AsType[*serverurl.Error](err); ok {
		return (*Error)(problem)
	}
	return err
}
