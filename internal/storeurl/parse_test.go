package storeurl_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/storeurl"
	"github.com/bedrock-go/bedrock/txn/driver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text  string
		kind  storeurl.Kind
		shown string
	}{
		{"mem:", storeurl.Memory, "mem:"},
		{"mem://", storeurl.Memory, "mem:"},
		{"sqlite:data/x.db", storeurl.SQLite, "sqlite:data/x.db"},
		{"sqlite:///var/x.db", storeurl.SQLite, "sqlite:/var/x.db"},
		{"mysql://host/db", storeurl.MySQL, "mysql://host/db"},
		{"mariadb://u:hunter2@host:3307/db?tls=true", storeurl.MySQL, "mariadb://host:3307/db"},
		{"mysql://u:hunter%40%2F2@host/db?password=hunter2", storeurl.MySQL, "mysql://host/db"},
		{"postgres://u:hunter2@[::1]:5433/db?sslmode=disable", storeurl.Postgres, "postgres://[::1]:5433/db"},
		{"postgresql://host/db", storeurl.Postgres, "postgresql://host/db"},
		{"redis://u:hunter2@host", storeurl.Redis, "redis://host:6379"},
		{"redis-cluster://a,b:1", storeurl.Redis, "redis-cluster://a:6379,b:1"},
		{"redis-sentinel://a/main?sentinel-password=hunter2", storeurl.Redis, "redis-sentinel://a:26379/main"},
	} {
		l, err := storeurl.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if l.Kind != c.kind || l.String() != c.shown {
			t.Errorf("%s is %s %s, want %s %s", c.text, l.Kind, l, c.kind, c.shown)
		}
	}
}

func TestMistakesAreNamedAndPasswordsAreNot(t *testing.T) {
	for text, part := range map[string]string{
		"":                              "scheme",
		"hunter2":                       "scheme",
		"memory":                        "scheme", // the word is mem:, as for locks
		"ftp://u:hunter2@h/d":           "scheme",
		"mysql:hunter2":                 "scheme",
		"redis:hunter2":                 "scheme must be followed by //: redis://…",
		"redis-sentinel:/hunter2@h/m":   "scheme must be followed by //: redis-sentinel://…",
		"redis:hunter2://h":             "scheme must be followed by //: redis://…",
		"sqlite:":                       "path",
		"sqlite:x.db?key=hunter2":       "path",
		"mysql://u:hunter2@/db":         "host",
		"mysql://u:hunter2@h":           "database",
		"mysql://u:hunter2@h/a/b":       "database",
		"postgres://u:hunter2@h/":       "database",
		"postgres://u:hunter2@h:port/d": "port",
		"postgres://u:hunter2%zz@h/d":   "password",
		"redis://u:hunter2@h:port":      "store URL: port",
		"redis://u:hunter2@h?ttl=1s":    "option ttl is not known; redis:// takes none here",
		"rediss://u:hunter2@h?acks=1":   "rediss:// takes ca, cert, insecure-skip-verify, key, server-name",
		"rediss://u:hunter2@h?ca=/nope": "store URL: option ca cannot be read: open /nope",
		"rediss://h?cert=/no&key=/no":   "store URL: options cert and key cannot be read: open /no",
	} {
		_, err := storeurl.Parse(text)
		var store *storeurl.Error
		switch {
		case !errors.As(err, &store):
			t.Errorf("%q: want an Error, got %v", text, err)
		case !strings.Contains(err.Error(), part):
			t.Errorf("%q: %v does not name the %s", text, err, part)
		case strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%q: the error shows the password: %v", text, err)
		}
	}
}

func TestOpenEmbedded(t *testing.T) {
	for _, text := range []string{"mem:", "sqlite:" + filepath.Join(t.TempDir(), "new", "x.db")} {
		l, err := storeurl.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		store, err := l.Open(t.Context(), nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if _, err := store.Load(t.Context(), "x"); !errors.Is(err, driver.ErrNotFound) {
			t.Errorf("%s: load from an empty store: %v", text, err)
		}
		if err := store.Close(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWhatIsNotThereIsSaidInOneLine(t *testing.T) {
	for _, text := range []string{
		"mysql://u:hunter2@127.0.0.1:1/db", "postgres://u:hunter2@127.0.0.1:1/db", "redis://u:hunter2@127.0.0.1:1",
	} {
		l, err := storeurl.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Open(t.Context(), nil)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.ContainsAny(err.Error(), "\n\t") {
			t.Errorf("%s: want an error in one line, without the password, got %q", l, err)
		}
	}
}

func TestTheSchemeThatIsMeantIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"sqllite:x.db":   "store URL: scheme is not known (did you mean sqlite?); there are " + storeurl.Schemes,
		"redsi://h":      "store URL: scheme is not known (did you mean redis?); there are " + storeurl.Schemes,
		"postgre://h/db": "store URL: scheme is not known (did you mean postgres?); there are " + storeurl.Schemes,
		"ftp://h":        "store URL: scheme is not known; there are " + storeurl.Schemes,
	} {
		if _, err := storeurl.Parse(text); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
