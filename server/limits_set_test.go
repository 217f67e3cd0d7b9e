package server_test

import (
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
			if err == nil || !strings.Contains(err.Error(), "limit "+info.Name+" is ") || limits != (server.Limits{}) {
				t.Errorf("%s=%s: %v, %+v", info.Name, text, err, limits)
			}
		}
	}
	want := server.Limits{
		Body: 2 << 20, BodyTime: 30 * time.Second, Rate: 50_000, Burst: 50_000, Requests: 10_000, Streams: 10_000, StreamsEach: 5000,
		Wait: time.Minute, Slow: 10 * time.Second,
	}
	if all != want {
		t.Errorf("defaults are %+v, want %+v", all, want)
	}
	if err := all.Set("stream", "1"); err == nil || all != want {
		t.Errorf("a limit that is not there: %v", err)
	}
}
