package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/internal/nearest"
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
		if names := limitNames(); !slices.Contains(names, name) {
			return nil, fmt.Errorf("--limit: there is no limit %.40q%s; there are %s",
				name, didYouMean("", nearest.To(name, names)), strings.Join(names, ", "))
		}
		if err := limits.Set(name, value); err != nil {
			return nil, fmt.Errorf("--limit: %w", err)
		}
	}
	return limits, nil
}

func limitNames() []string {
	var names []string
	for _, l := range server.AllLimits() {
		names = append(names, l.Name)
	}
	return names
}

// describeLimits lists the limits for people.
func describeLimits() string {
	var text strings.Builder
	for _, l := range server.AllLimits() {
		fmt.Fprintf(&text, "\n  %-18s %-7s %s", l.Name, l.Default, l.Means)
	}
	return text.String()
}
