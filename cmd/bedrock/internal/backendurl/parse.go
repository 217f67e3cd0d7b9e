package backendurl

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Kind says how a backend is reached.
type Kind string

// The kinds are the URL's schemes.
const (
	Memory   Kind = "mem"
	Redis    Kind = "redis"
	RedisTLS Kind = "rediss"
	Sentinel Kind = "redis-sentinel"
	Cluster  Kind = "redis-cluster"
)

// Schemes lists the accepted forms for people.
const Schemes = "mem:, redis://, rediss://, redis-sentinel://, redis-cluster://"

// Location is a parsed URL.
type Location struct {
	Kind  Kind
	Addrs []string // host:port
	// Username and Password are those of the data servers.
	Username string
	Password string
	// Master is the name by which Sentinels know the master.
	Master string
	DB     int
	// Options are those of the query.
	Options Options
}

// String returns the location without user name and password.
func (l *Location) String() string {
	if l.Kind == Memory {
		return "mem:"
	}
	text := string(l.Kind) + "://" + strings.Join(l.Addrs, ",")
	if l.Master != "" {
		text += "/" + url.PathEscape(l.Master)
	}
	if l.DB != 0 {
		text += "/" + strconv.Itoa(l.DB)
	}
	return text
}

// Error says which part of a URL is wrong. It never holds the URL itself.
type Error struct {
	// Part is the part, such as "port" or "option ttl".
	Part    string
	Problem string
}

// Error implements error.
func (e *Error) Error() string { return "backend URL: " + e.Part + " " + e.Problem }

func wrong(part, problem string, args ...any) error {
	return &Error{Part: part, Problem: fmt.Sprintf(problem, args...)}
}

// parts are the pieces of a URL before they are understood. The standard parser
// refuses several hosts in one URL, and its errors quote the whole of it.
type parts struct {
	scheme, user, hosts, path, query string
	hasUser                          bool
}

// Parse understands a URL.
func Parse(text string) (*Location, error) {
	if text == "mem:" || text == "mem://" {
		return &Location{Kind: Memory}, nil
	}
	p, err := split(text)
	if err != nil {
		return nil, err
	}
	l := &Location{Kind: Kind(p.scheme)}
	switch l.Kind {
	case Redis, RedisTLS, Sentinel, Cluster:
	case Memory:
		return nil, wrong("scheme mem", "takes nothing after it: write mem:")
	default:
		return nil, wrong("scheme", "is not known; there are %s", Schemes)
	}
	if err := l.fill(&p); err != nil {
		return nil, err
	}
	return l, nil
}

// split cuts a URL at its punctuation. The last @ before the query ends the
// password, which may therefore hold / and : as they are.
func split(text string) (parts, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if strings.HasPrefix(text, "mem:") {
		return parts{scheme: "mem"}, nil
	}
	if !found {
		return parts{}, wrong("scheme", "is missing; write one of %s", Schemes)
	}
	if strings.Contains(rest, "#") {
		return parts{}, wrong("password or option", "has a # that must be written %%23")
	}
	p := parts{scheme: scheme}
	rest, p.query, _ = strings.Cut(rest, "?")
	if strings.Contains(p.query, "@") {
		return parts{}, wrong("password or option", "has a ? or @ that must be written %%3F or %%40")
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		p.hasUser, p.user, rest = true, rest[:at], rest[at+1:]
	}
	p.hosts, p.path, _ = strings.Cut(rest, "/")
	return p, nil
}

func (l *Location) fill(p *parts) (err error) {
	if p.hasUser {
		if err := l.parseUser(p.user); err != nil {
			return err
		}
	}
	if err := l.parseHosts(p.hosts); err != nil {
		return err
	}
	if err := l.parsePath(p.path); err != nil {
		return err
	}
	l.Options, err = parseOptions(l.Kind, p.query)
	return err
}

func (l *Location) parseUser(text string) (err error) {
	user, password, _ := strings.Cut(text, ":")
	if l.Username, err = url.PathUnescape(user); err != nil {
		return wrong("user name", "is not percent-encoded correctly")
	}
	if l.Password, err = url.PathUnescape(password); err != nil {
		return wrong("password", "is not percent-encoded correctly")
	}
	return nil
}

func (l *Location) parseHosts(text string) error {
	for host := range strings.SplitSeq(text, ",") {
		addr, err := parseHost(host, l.defaultPort())
		if err != nil {
			return err
		}
		l.Addrs = append(l.Addrs, addr)
	}
	if len(l.Addrs) > 1 && (l.Kind == Redis || l.Kind == RedisTLS) {
		return wrong("host", "is a list, which only redis-sentinel:// and redis-cluster:// take")
	}
	return nil
}

func (l *Location) defaultPort() string {
	if l.Kind == Sentinel {
		return "26379"
	}
	return "6379"
}

// parsePath reads /db, and before it the master's name for Sentinel.
func (l *Location) parsePath(text string) error {
	if l.Kind == Sentinel {
		master, db, _ := strings.Cut(text, "/")
		name, err := url.PathUnescape(master)
		if err != nil || name == "" {
			return wrong("master name", "is missing: redis-sentinel://host/MASTER")
		}
		l.Master, text = name, db
	}
	if text == "" {
		return nil
	}
	if l.Kind == Cluster {
		return wrong("path", "is not allowed: a cluster has no database numbers")
	}
	db, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return wrong("database", "is not a number from 0 to 65535")
	}
	l.DB = int(db)
	return nil
}
