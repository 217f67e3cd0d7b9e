package driver_test

import (
	"errors"
	"fmt"
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
