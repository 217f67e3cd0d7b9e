package server_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/server"
)

// TestLimitsAreSetByName sets every limit to the default that it is listed with, and to
// what it must not be: nothing has changed then.
func TestLimitsAreSetByName(t *testing.T) {
	var all server.Limits
	for _, info := range server.AllLimits() {
		if err := all.Set(info.Name, info.Default); err != nil {
			t.Error(err)
		}
		for _, text := range []string{"0", "0s", "", "-2", "-2s", "many", "1e3", "9999999999999999999999"} {
			limits := server.Limits{}
			err := limits.Set(info.Name, text)
			if err == nil || !strings.Contains(err.Error(), "limit "+info.Name+": ") || limits != (server.Limits{}) {
				t.Errorf("%s=%s: %v, %+v", info.Name, text, err, limits)
			}
		}
	}
	want := server.Limits{
		Body: 2 << 20, BodyTime: 30 * time.Second, Rate: 50_000, Burst: 50_000, Requests: 10_000, Streams: 10_000,
		StreamsEach: 5000,
		Wait:        time.Minute, Slow: 10 * time.Second,
	}
	if all != want {
		t.Errorf("defaults are %+v, want %+v", all, want)
	}
	const unknown = `limit: there is none called "stream" (did you mean streams?); there are body, body-time, rate, ` +
		"burst, requests, streams, streams-per-client, wait, slow"
	if err := all.Set("stream", "1"); err == nil || err.Error() != unknown || all != want {
		t.Errorf("a limit that is not there: %v", err)
	}
}

// TestLimitsThatRunOver: a wait for ever, as large as a number can be, ended every call
// at once.
func TestLimitsThatRunOver(t *testing.T) {
	for name, limits := range map[string]server.Limits{
		"limit wait: 2562047h47m16.854775807s: want 1ms to 24h0m0s": {Wait: math.MaxInt64},
		"limit slow: 2562047h47m16.854775807s: want 1ms to 24h0m0s": {Slow: math.MaxInt64},
		"limit body: 2147483647: want 1024 to 1073741824":           {Body: math.MaxInt32},
	} {
		c := config(t)
		c.Limits = &limits
		if _, err := server.New(c.Services, &c.Options); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}
