package serverurl

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/internal/nearest"
)

// Kind says what servers they are, and how they are reached.
type Kind string

// The kinds are the URL's schemes.
const (
	Redis     Kind = "redis"
	RedisTLS  Kind = "rediss"
	Sentinel  Kind = "redis-sentinel"
	Cluster   Kind = "redis-cluster"
	Etcd      Kind = "etcd"
	ZooKeeper Kind = "zk"
)

// Kinds are all of them, those of Redis first.
func Kinds() []Kind { return append(RedisKinds(), Etcd, ZooKeeper) }

// RedisKinds are those of a Redis.
func RedisKinds() []Kind { return []Kind{Redis, RedisTLS, Sentinel, Cluster} }

// IsRedis reports whether it is a Redis.
func (k Kind) IsRedis() bool { return slices.Contains(RedisKinds(), k) }

// Known reports whether it is one of them.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Hint names, for the middle of a sentence, the scheme that may be meant: one of those kinds, or
// of the others.
func Hint(scheme string, kinds []Kind, others ...string) string {
	for _, k := range kinds {
		others = append(others, string(k))
	}
	return nearest.Hint(scheme, others)
}

// RedisSchemes lists, for people, the accepted forms of a Redis, Schemes those of all kinds.
const (
	RedisSchemes = "redis://, rediss://, redis-sentinel://, redis-cluster://"
	Schemes      = RedisSchemes + ", etcd://, zk://"
)

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
	// Path is below which node of ZooKeeper everything is, without the slash before it.
	Path string
	// TLS configures encryption.
	TLS TLS
	// SentinelUsername and SentinelPassword are those of the Sentinels.
	SentinelUsername string
	SentinelPassword string
}

// String returns the location without user name and password.
func (l *Location) String() string {
	text := string(l.Kind) + "://" + strings.Join(l.Addrs, ",")
	if l.Master != "" {
		text += "/" + url.PathEscape(l.Master)
	}
	if l.DB != 0 {
		text += "/" + strconv.Itoa(l.DB)
	}
	if l.Path != "" {
		text += "/" + l.Path
	}
	return text
}

// Error says which part of a URL is wrong, and not whose URL: packages lockurl and storeurl
// do. It never holds the URL itself.
type Error struct {
	// Part is the part, such as "port" or "option ttl".
	Part    string
	Problem string
}

// Error implements error.
func (e *Error) Error() string { return e.Part + " " + e.Problem }

func wrong(part, problem string, args ...any) error {
	return &Error{Part: part, Problem: fmt.Sprintf(problem, args...)}
}

// parts are the pieces of a URL before they are understood. The standard parser
// refuses several hosts in one URL, and its errors quote the whole of it.
type parts struct {
	kind                     Kind
	user, hosts, path, query string
	hasUser                  bool
}

// Parse understands a URL, which may have further options beside those of the connection. An
// error is an [*Error].
func Parse(text string, further map[string]Setter) (*Location, error) {
	p, err := split(text)
	if err != nil {
		return nil, err
	}
	l := &Location{Kind: p.kind}
	if err := l.parseParts(&p); err != nil {
		return nil, err
	}
	return l, l.parseOptions(p.query, further)
}

// split cuts a URL at its punctuation. The last @ before the query ends the
// password, which may therefore hold / and : as they are. Packages lockurl and storeurl
// know more schemes, and look before whether it is one of these.
func split(text string) (parts, error) {
	scheme, rest, found := strings.Cut(text, "://")
	kind := Kind(scheme)
	if !found || !kind.Known() {
		return parts{}, wrong("scheme", "is none of %s", Schemes)
	}
	if strings.Contains(rest, "#") {
		return parts{}, wrong("password or option", "has a # that must be written %%23")
	}
	p := parts{kind: kind}
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

func (l *Location) parseParts(p *parts) error {
	if p.hasUser {
		if err := l.parseUser(p.user); err != nil {
			return err
		}
	}
	if err := l.parseHosts(p.hosts); err != nil {
		return err
	}
	return l.parsePath(p.path)
}

func (l *Location) parseUser(text string) (err error) {
	user, password, _ := strings.Cut(text, ":")
	if l.Username, err = url.PathUnescape(user); err != nil {
		return wrong("user name", "is not percent-encoded correctly")
	}
	if l.Password, err = url.PathUnescape(password); err != nil {
		return wrong("password", "is not percent-encoded correctly")
	}
	if l.Username != "" && l.Password == "" && !l.Kind.IsRedis() {
		return wrong("password", "is missing: a user name needs one")
	}
	if l.Username != "" && l.Password == "" { // go-redis would say nothing, and be the default user
		return wrong("password", "is missing: a user name needs one (a password alone is written :PASSWORD@)")
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
		return wrong("host", "is a list, which %s:// does not take", l.Kind)
	}
	return nil
}

func (l *Location) defaultPort() string {
	switch l.Kind {
	case Sentinel:
		return "26379"
	case Etcd:
		return "2379"
	case ZooKeeper:
		return "2181"
	default:
		return "6379"
	}
}

// parsePath reads what stands behind the hosts.
func (l *Location) parsePath(text string) error {
	switch {
	case l.Kind == ZooKeeper:
		return l.parseNode(text)
	case l.Kind == Etcd && text != "":
		return wrong("path", "is not allowed: where locks are is said by option prefix")
	}
	return l.parseDatabase(text)
}

// parseNode reads the path of a node.
func (l *Location) parseNode(text string) (err error) {
	if l.Path, err = url.PathUnescape(strings.TrimSuffix(text, "/")); err != nil {
		return wrong("path", "is not percent-encoded correctly")
	}
	return nil
}

// parseDatabase reads /db, and before it the master's name for Sentinel.
func (l *Location) parseDatabase(text string) error {
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
