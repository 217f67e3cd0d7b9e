package lockurl_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestWhatAnswersIsNotTold: who gets no connection is told of which server, and what is the matter; and that nothing
// was asked, which could have taken effect.
func TestWhatAnswersIsNotTold(t *testing.T) {
	t.Parallel()
	gone := testenv.Nobody(t)
	const silent, closing, nobody = "does not answer: it hangs, or is no server of ", "closes the connection", "refused"
	for _, c := range []struct{ scheme, addr, want string }{
		{"postgres://u:p@", testenv.SaysNothing(t), silent + "PostgreSQL"},
		{
			"postgres://u:p@", testenv.Greets(t, "J\x00\x00\x00\n5.5.5-MariaDB\x00"),
			"does not speak PostgreSQL's protocol",
		},
		{"postgres://u:p@", testenv.HangsUp(t), closing},
		{"postgres://u:p@", gone, nobody},
		{"mysql://u:p@", testenv.SaysNothing(t), silent + "MySQL"},
		{"mysql://u:p@", testenv.Greets(t, "\x01\x00\x00\x07x"), "does not speak MySQL's protocol"},
		{"mysql://u:p@", testenv.HangsUp(t), closing},
		{"mysql://u:p@", gone, nobody},
		{"redis://", gone, nobody},
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
