package plan

import (
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// longest bounds pauses and calls.
const longest = 30 * 24 * time.Hour

func policy(p *txn.Policy) error {
	if p == nil {
		return nil
	}
	durations := []struct {
		name  string
		value time.Duration
	}{{"timeout", p.Timeout}, {"backoff", p.Backoff}, {"maxBackoff", p.MaxBackoff}}
	for _, d := range durations {
		if d.value < 0 || d.value > longest || d.value > 0 && d.value < time.Millisecond {
			return problem(d.name, "%v: want 0 (default) or 1ms to %v", d.value, longest)
		}
	}
	if p.MaxBackoff > 0 && p.MaxBackoff < p.Backoff {
		return problem("maxBackoff", "%v: less than backoff, %v", p.MaxBackoff, p.Backoff)
	}
	if p.Attempts < 0 {
		return problem("attempts", "%d: want 0 (no limit) or more", p.Attempts)
	}
	return exhausted(p)
}

// exhausted checks what is to follow, and refuses what never would.
func exhausted(p *txn.Policy) error {
	switch {
	case p.Then != "" && p.Attempts == 0:
		return problem("then", "never comes, because attempts has no limit")
	case p.Hook != "" && p.Then != txn.Hook:
		return problem("hook", "is never asked, because then is not hook")
	}
	switch p.Then {
	case "", txn.Compensate, txn.Park:
		return nil
	case txn.Hook:
		if err := asked(p.Hook); err != nil {
			return under("hook", err)
		}
		return nil
	default:
		return problem("then", "%q: want compensate, park or hook", clip(string(p.Then)))
	}
}
