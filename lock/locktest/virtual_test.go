package locktest

import (
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/trial"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestVirtualTimeWithoutAClock: leases would never end, and every behaviour that waits for
// one would fail with something else.
func TestVirtualTimeWithoutAClock(t *testing.T) {
	type timeless struct{ driver.Backend }
	for _, tc := range []struct {
		name    string
		connect func(testing.TB) driver.Backend
		refused bool
	}{
		{"none", func(testing.TB) driver.Backend { return timeless{memlock.NewBackend(nil)} }, true},
		{"own", func(testing.TB) driver.Backend { return memlock.NewBackend(nil) }, false},
	} {
		b := &Backend{Virtual: true, Open: func(testing.TB) Server { return Server{Connect: tc.connect} }}
		complaints := trial.Failures(t, func(tb testing.TB) { newEnv(tb, b, &behaviour{}).connect() })
		if refused := strings.Contains(strings.Join(complaints, "\n"), "no driver.Timekeeper"); refused != tc.refused {
			t.Errorf("%s: %q", tc.name, complaints)
		}
	}
}
