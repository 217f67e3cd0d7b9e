package lockurl_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// stranger returns the address of a server that greets whoever calls it, says nothing if there is no greeting, and
// hangs up if that is "bye".
func stranger(t *testing.T, greeting string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if greeting == "bye" {
				_ = conn.Close()
				continue
			}
			_, _ = conn.Write([]byte(greeting))
			defer conn.Close()
		}
	}()
	return l.Addr().String()
}

// TestWhatAnswersIsNotTold: who gets no connection is told of which server, and what is the matter; and that nothing
// was asked, which could have taken effect.
func TestWhatAnswersIsNotTold(t *testing.T) {
	t.Parallel()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	const silent, closing, nobody = "does not answer: it hangs, or is no server of ", "closes the connection", "refused"
	for _, c := range []struct{ scheme, addr, want string }{
		{"postgres://u:p@", stranger(t, ""), silent + "PostgreSQL"},
		{"postgres://u:p@", stranger(t, "J\x00\x00\x00\n5.5.5-MariaDB\x00"), "does not speak PostgreSQL's protocol"},
		{"postgres://u:p@", stranger(t, "bye"), closing},
		{"postgres://u:p@", gone.Addr().String(), nobody},
		{"mysql://u:p@", stranger(t, ""), silent + "MySQL"},
		{"mysql://u:p@", stranger(t, "\x01\x00\x00\x07x"), "does not speak MySQL's protocol"},
		{"mysql://u:p@", stranger(t, "bye"), closing},
		{"mysql://u:p@", gone.Addr().String(), nobody},
		{"redis://", gone.Addr().String(), nobody},
	} {
		t.Run(c.scheme+c.want, func(t *testing.T) {
			t.Parallel()
			database := "/app"
			if c.scheme == "redis://" {
				database = ""
			}
			backend, err := lockurl.New(c.scheme + c.addr + database)
			if err != nil {
				t.Fatal(err)
			}
			session, err := backend.Open(lock.Options{Patience: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Stop(t.Context())
			_, err = session.Mutex("a", &lock.MutexOptions{Wait: time.Second}).Lock(t.Context())
			if !errors.Is(err, driver.ErrUnavailable) || lock.MaybeApplied(err) {
				t.Errorf("not unavailable, or unclear: %v", err)
			}
			for _, want := range []string{c.addr, c.want} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v; want %q", err, want)
				}
			}
		})
	}
}
