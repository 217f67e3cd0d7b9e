package driver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestTimeLeftIsInvented: whoever waits must know what has run out from what nobody knows.
func TestTimeLeftIsInvented(t *testing.T) {
	for _, tt := range []struct {
		refusal error
		want    time.Duration
	}{
		{&driver.HeldError{TTL: time.Second}, time.Second},
		{fmt.Errorf("acquire: %w", &driver.HeldError{TTL: time.Second}), time.Second},
		{&driver.HeldError{}, 0},
		{&driver.HeldError{TTL: -time.Second}, 0},
		{&driver.HeldError{TTL: driver.UnknownTTL}, driver.UnknownTTL},
		{driver.ErrHeld, driver.UnknownTTL},
		{errors.New("no refusal"), driver.UnknownTTL},
		{nil, driver.UnknownTTL},
	} {
		if got := driver.TimeLeft(tt.refusal); got != tt.want {
			t.Errorf("%#v: %d, want %d", tt.refusal, got, tt.want)
		}
	}
}

// TestWhatStandsInTheStoreRewritesATerminal: an owner is whatever somebody has written there.
func TestWhatStandsInTheStoreRewritesATerminal(t *testing.T) {
	longest := strings.Repeat("x", driver.MaxOwner)
	for owner, want := range map[string]string{
		"":                             "held",
		"3f2a:17":                      "held by 3f2a:17",
		"größe:1":                      "held by größe:1",
		longest:                        "held by " + longest,
		"me until 2099":                `held by "me until 2099"`,
		"\x1b[2J\nlevel=error":         `held by "\x1b[2J\nlevel=error"`,
		"\u202eevil":                   `held by "\u202eevil"`,
		"a\xff":                        `held by "a\xff"`,
		strings.Repeat("x", 1_000_000): `held by "` + longest + `…"`,
	} {
		refusal := &driver.HeldError{Owner: owner}
		if got := refusal.Error(); got != want || refusal.Owner != owner {
			t.Errorf("%.200q: told as %.200q, want %q", owner, got, want)
		}
	}
}
