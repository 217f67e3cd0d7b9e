package main

import (
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/server"
)

// serverLimits understands --limit.
func (f *serveFlags) serverLimits() (*server.Limits, error) {
	limits := &server.Limits{}
	for _, text := range f.limits {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("--limit is %.80q: want NAME=VALUE, such as streams-per-client=64", text)
		}
		if err := limits.Set(name, value); err != nil {
			return nil, fmt.Errorf("--limit: %w", err)
		}
	}
	return limits, nil
}

// describeLimits lists the limits for people.
func describeLimits() string {
	var text strings.Builder
	for _, l := range server.AllLimits() {
		fmt.Fprintf(&text, "\n  %-18s %-7s %s", l.Name, l.Default, l.Means)
	}
	return text.String()
}
