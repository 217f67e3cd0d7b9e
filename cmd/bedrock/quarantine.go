package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
)

// quarantine is the value of --quarantine: a duration, or none.
type quarantine time.Duration

const noQuarantine = "none"

// String implements pflag.Value.
func (q *quarantine) String() string {
	switch *q {
	case 0:
		return ""
	case -1:
		return noQuarantine
	}
	return time.Duration(*q).String()
}

// Type implements pflag.Value.
func (*quarantine) Type() string { return "duration|none" }

// Set implements pflag.Value. Zero would mean the default, to who may have meant none.
func (q *quarantine) Set(text string) error {
	if text == noQuarantine || text == "-1" {
		*q = -1
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("want a duration such as 30s, or none")
	}
	*q = quarantine(d)
	return nil
}

// defaultTTL is that of package lock.
const defaultTTL = 30 * time.Second

// checkQuarantine refuses one that is shorter than the TTL of the locks which a command takes, where that is 0 if it
// was not typed: the library makes it longer without a word, and who has typed it means something else.
func (s *system) checkQuarantine(ttl time.Duration) error {
	urls, _, err := s.backendURLs("")
	given := s.backend.votes.Quarantine
	if err != nil || !s.backend.quorum || given <= 0 {
		return nil //nolint:nilerr // whoever opens the backend says what is wrong
	}
	for _, url := range urls {
		if location, err := lockurl.Parse(url); err == nil {
			ttl = cmp.Or(ttl, location.TTL)
		}
	}
	if ttl = cmp.Or(ttl, defaultTTL); given >= ttl {
		return nil
	}
	return &exitError{exitUsage, fmt.Errorf("--quarantine is %s, the least is the TTL, %s", given, ttl)}
}
