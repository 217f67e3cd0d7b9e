package header

import (
	"net/http"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// FormatRetryAfter is the value of Bedrock-Retry-After.
func FormatRetryAfter(d time.Duration) string {
	return strconv.FormatInt(max(0, d.Milliseconds()), 10)
}

// FormatSeconds is the value of HTTP's own Retry-After: whole seconds, rounded up.
func FormatSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((max(0, d)+time.Second-1)/time.Second), 10)
}

// ParseRetryAfter reads when to ask again from Bedrock-Retry-After or, if that is
// empty, from Retry-After, which is a number of seconds, or a date by the clock of who
// sent it. Zero: it does not say.
func ParseRetryAfter(millis, standard string, sent time.Time) time.Duration {
	if d := parseUnits(millis, time.Millisecond); d > 0 {
		return d
	}
	if date, err := http.ParseTime(standard); err == nil {
		return min(max(date.Sub(sent), 0), txn.MaxPending)
	}
	return parseUnits(standard, time.Second)
}

// parseUnits reads a number of units. What is too large for a number is too long.
func parseUnits(text string, unit time.Duration) time.Duration {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && n == 0 {
		return 0
	}
	return time.Duration(min(n, uint64(txn.MaxPending/unit))) * unit
}
