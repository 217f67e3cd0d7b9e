package lockurl

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lockOnce takes and gives back a lock at the backend of that URL.
func lockOnce(t *testing.T, text string) {
	t.Helper()
	backend, err := New(text)
	if err != nil {
		t.Fatal(err)
	}
	session, err := backend.Open(lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := session.Mutex("job", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if err := session.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpenMemory(t *testing.T) { lockOnce(t, "mem:") }

func TestMemoryIsSharedByTheClientsOfABackend(t *testing.T) {
	backend, err := New("mem:")
	if err != nil {
		t.Fatal(err)
	}
	var sessions [2]*Session
	for i := range sessions {
		if sessions[i], err = backend.Open(lock.Options{}); err != nil {
			t.Fatal(err)
		}
		defer sessions[i].Stop(t.Context())
	}
	if _, err := sessions[0].Mutex("job", nil).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := sessions[1].Mutex("job", nil).TryLock(t.Context()); err == nil {
		t.Error("both have the lock")
	}
}

func TestOpenRedis(t *testing.T) {
	t.Parallel()
	const password = "p/w:@#?%"
	server := testenv.Redis(t, &testenv.RedisOptions{Password: password})
	lockOnce(t, fmt.Sprintf("redis://:%s@%s/3?ttl=5s", url.QueryEscape(password), server.Addr()))
	if got := server.Do("DBSIZE"); got != int64(0) {
		t.Errorf("database 0 was used: %v keys", got)
	}
}

func TestOpenTLS(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, &testenv.RedisOptions{TLS: true})
	lockOnce(t, fmt.Sprintf("rediss://%s?ca=%s", server.Addr(), url.QueryEscape(server.CAFile)))
	lockOnce(t, fmt.Sprintf("rediss://%s?insecure-skip-verify=true", server.Addr()))
	backend, err := New("rediss://" + server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	session, err := backend.Open(lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Stop(t.Context())
	if _, err := session.Inspect(t.Context(), "job"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown authority was trusted: %v", err)
	}
}

func TestOpenSentinel(t *testing.T) {
	t.Parallel()
	set := testenv.Sentinel(t, 1)
	lockOnce(t, fmt.Sprintf("redis-sentinel://%s/%s", strings.Join(set.Addrs(), ","), set.MasterName))
}

func TestOpenCluster(t *testing.T) {
	t.Parallel()
	set := testenv.Cluster(t, 3, 0)
	lockOnce(t, "redis-cluster://"+set.Nodes[1].Addr())
}

func TestNewReadsCertificates(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"rediss://h?ca=/missing.pem":              "option ca cannot be read: open /missing.pem",
		"rediss://h?ca=" + url.QueryEscape(empty): "option ca names a file without a PEM certificate",
		"rediss://h?cert=/missing.crt&key=/missing.key": "" +
			"options cert and key cannot be read: open /missing.crt",
		"rediss://u:secret@h?cert=/missing.crt&key=/other.key": "options cert and key",
	} {
		_, err := New(text)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(err.Error(), "backend URL: "+want) {
			t.Errorf("%s: got %v, want an Error, %q", text, err, want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", text, err)
		}
	}
}
