package storeurl

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/serverurl"
)

// Kind says what keeps the transactions.
type Kind string

// The kinds of stores.
const (
	Memory   Kind = "memory"
	SQLite   Kind = "sqlite"
	MySQL    Kind = "mysql"
	Postgres Kind = "postgres"
	Redis    Kind = "redis"
)

// memory is the URL of a store in this process, as it is of locks.
const memory = "mem:"

// Schemes lists the accepted forms for people.
const Schemes = "mem:, sqlite:PATH, mysql://, postgres://, " + serverurl.RedisSchemes

// Location is a parsed URL.
type Location struct {
	Kind Kind

	source string // for the database's own driver, or as it was written
	shown  string // without user name, password and parameters
	redis  *redis.UniversalOptions
}

// String returns the location without user name and password.
func (l *Location) String() string { return l.shown }

// Error says which part of a URL is wrong. It never holds the URL itself.
type Error serverurl.Error

// Error implements error.
func (e *Error) Error() string { return "store URL: " + (*serverurl.Error)(e).Error() }

func wrong(part, problem string, args ...any) error {
	return &Error{Part: part, Problem: fmt.Sprintf(problem, args...)}
}

// Parse understands a URL. It connects to nothing, but reads the certificates that
// a Redis URL names.
func Parse(text string) (*Location, error) {
	scheme, rest, found := strings.Cut(text, ":")
	switch {
	case text == memory || text == memory+"//":
		return &Location{Kind: Memory, shown: memory}, nil
	case !found:
		return nil, wrong("scheme", "is missing; write one of %s", Schemes)
	case serverurl.Kind(scheme).IsRedis():
		return parseRedis(text)
	}
	switch scheme {
	case "sqlite":
		return parseFile(rest)
	case "mysql", "mariadb":
		return parseServer(MySQL, text)
	case "postgres", "postgresql":
		return parseServer(Postgres, text)
	default:
		hint := serverurl.Hint(scheme, serverurl.RedisKinds(),
			"mem", "sqlite", "mysql", "mariadb", "postgres", "postgresql")
		return nil, wrong("scheme", "is not known%s; there are %s", hint, Schemes)
	}
}

func parseFile(rest string) (*Location, error) {
	path := strings.TrimPrefix(rest, "//")
	switch {
	case path == "":
		return nil, wrong("path", "is missing: sqlite:PATH")
	case strings.ContainsAny(path, "?#"):
		return nil, wrong("path", "has a ? or #; there are no options")
	}
	return &Location{Kind: SQLite, source: path, shown: "sqlite:" + path}, nil
}

// CheckFolder refuses a file in a folder that is not there: whoever names one has most
// likely mistyped it, and would bring up to date what nobody uses.
func (l *Location) CheckFolder() error {
	if l.Kind != SQLite {
		return nil
	}
	folder := filepath.Dir(l.source)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return wrong("path", "names a file in the folder %s, which is not there", folder)
	}
	return nil
}

// Missing reports whether the location is a file that is not there, and that would be made.
func (l *Location) Missing() bool {
	if l.Kind != SQLite {
		return false
	}
	_, err := os.Stat(l.source)
	return errors.Is(err, fs.ErrNotExist)
}

// parseServer checks what a database's own parser would complain about by quoting
// the URL.
func parseServer(kind Kind, text string) (*Location, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return nil, wrong("scheme", "must be followed by //: %s://host/database", kind)
	}
	rest, _, _ = strings.Cut(rest, "?")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	host, database, _ := strings.Cut(rest, "/")
	switch {
	case host == "":
		return nil, wrong("host", "is missing: %s://host/database", kind)
	case database == "" || strings.Contains(database, "/"):
		return nil, wrong("database", "is missing, or not a single name: %s://host/database", kind)
	}
	if _, err := url.Parse(text); err != nil {
		return nil, wrong("user name, password, host or port",
			"is not written correctly; special characters are percent-encoded")
	}
	return &Location{Kind: kind, source: text, shown: scheme + "://" + rest}, nil
}

func parseRedis(text string) (*Location, error) {
	if scheme, rest, _ := strings.Cut(text, ":"); !strings.HasPrefix(rest, "//") {
		return nil, wrong("scheme", "must be followed by //: %s://…", scheme)
	}
	location, err := serverurl.Parse(text, nil)
	if err != nil {
		return nil, asStoreError(err)
	}
	opts, err := location.RedisOptions()
	if err != nil {
		return nil, asStoreError(err)
	}
	return &Location{Kind: Redis, source: text, redis: opts, shown: location.String()}, nil
}

// asStoreError says that it is the URL of the store that is wrong.
func asStoreError(err error) error {
	if problem, ok := errors.AsType[*serverurl.Error](err); ok {
		return (*Error)(problem)
	}
	return err
}

// besideFile is what the file of locks is called besides the name of the store's.
const besideFile = "-locks"

// Locks is the URL of the locks that belong to the store: all servers on it share them. Locks are not in the file of a
// store that is one, but in a file beside it: the store flushes its own in its own time, and nobody else writes there.
func (l *Location) Locks() string {
	switch l.Kind {
	case Memory:
		return memory
	case SQLite:
		return "sqlite://" + l.source + besideFile
	default:
		return l.source
	}
}

// Shared reports whether several servers can work on one store.
func (l *Location) Shared() bool {
	return l.Kind == MySQL || l.Kind == Postgres || l.Kind == Redis
}
