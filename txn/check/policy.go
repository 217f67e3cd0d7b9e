package check

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/txn"
)

const (
	// longest bounds pauses and calls.
	longest = 30 * 24 * time.Hour
	// mostAttempts is more than anybody makes, and fits into every protocol.
	mostAttempts = 1_000_000_000
)

func policy(p *txn.Policy) error {
	if p == nil {
		return nil
	}
	durations := []struct {
		name  string
		value time.Duration
	}{{"timeout", p.Timeout}, {"backoff", p.Backoff}, {"maxBackoff", p.MaxBackoff}}
	for _, d := range durations {
		if isOutside(d.value, longest) {
			return input.Errorf(d.name, "%s: want 0 (default) or 1ms to %v", long(d.value), longest)
		}
	}
	if p.MaxBackoff > 0 && p.MaxBackoff < p.Backoff {
		return input.Errorf("maxBackoff", "%v: less than backoff, %v", p.MaxBackoff, p.Backoff)
	}
	if p.Attempts < 0 || p.Attempts > mostAttempts {
		return input.Errorf("attempts", "%s: want 0 (no limit) to %d", many(p.Attempts), mostAttempts)
	}
	return fallback(p)
}

// isOutside reports whether a duration is longer than allowed, or is none that anybody has
// meant: a number without its unit is that many nanoseconds in Go. 0 is for nothing said.
func isOutside(d, most time.Duration) bool {
	return d != 0 && d < time.Millisecond || d > most
}

// fallback checks what follows when attempts are used up, and refuses what never could. A word
// that there is none of is left to [Only], which knows what there is in a mode.
func fallback(p *txn.Policy) error {
	switch {
	case p.Then != "" && !slices.Contains(fallbacks(true), string(p.Then)):
		return nil
	case p.Then != "" && p.Attempts == 0:
		return input.Errorf("then", "never comes, because attempts has no limit")
	case p.Hook != "" && p.Then != txn.Hook:
		return input.Errorf("hook", "is never asked, because then is not hook")
	}
	if p.Then != txn.Hook {
		return nil
	}
	if err := askedTarget(p.Hook); err != nil {
		return under("hook", err)
	}
	return nil
}

// fallbackOf refuses what cannot follow in a mode.
func fallbackOf(p *txn.Policy, a Allowed, mode string) error {
	if p == nil || p.Then == "" {
		return nil
	}
	words, given := fallbacks(a.Compensate), clip(string(p.Then))
	switch {
	case slices.Contains(words, given):
		return nil
	case p.Then == txn.Compensate:
		return input.Errorf("then", "compensate has no meaning in mode %s; want %s", mode, choice(words))
	default:
		return input.Errorf("then", "%q is not known%s; want %s", given, nearest.Hint(given, words), choice(words))
	}
}

// fallbacks are the words for what may follow, where something can be compensated or not.
func fallbacks(compensate bool) []string {
	words := []string{string(txn.Compensate), string(txn.Park), string(txn.Hook)}
	if !compensate {
		return words[1:]
	}
	return words
}

// choice offers words to people.
func choice(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// long is a duration for people. What is longer than a duration can be is the longest one.
func long(d time.Duration) string {
	if d == math.MaxInt64 {
		return "over 292 years"
	}
	return d.String()
}

// many is a number for people. What is larger than the protocol has numbers is the largest.
func many(n int) string {
	if n >= math.MaxInt32 {
		return "2147483647 or more"
	}
	return strconv.Itoa(n)
}
