package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
)

// inWordsOfFlags names the flag that was given where an error names the field which that flag
// sets: who typed --min-hold has never heard of minHold.
func inWordsOfFlags(c *cobra.Command, err error) error {
	wrong, ok := errors.AsType[*input.Error](err)
	if !ok || err.Error() != wrong.Error() { // it speaks of more than that field
		return err
	}
	flag := c.Flags().Lookup(flagOf(wrong.Field))
	if wrong.Field == "limit" && flag == nil {
		flag = c.Flags().Lookup("permits") // N/M: it sets both
	}
	if flag == nil || !flag.Changed {
		return err
	}
	return &exitError{exitUsage, fmt.Errorf("--%s %s", flag.Name, wrong.Problem)}
}

// refuseZero refuses times of a lease that were given as 0: package lock takes that for its default, and whoever types
// it means something else.
func refuseZero(flags *pflag.FlagSet) error {
	for _, f := range []struct {
		name    string
		least   time.Duration
		without string
	}{
		{"ttl", lock.MinTTL, "the default"},
		{"max-hold", lock.MinTTL, "no limit"},
		{"min-hold", time.Millisecond, "none"},
	} {
		if given := flags.Lookup(f.name); given != nil && given.Changed && given.Value.String() == "0s" {
			return &exitError{exitUsage, fmt.Errorf("--%s is 0s, the least is %s; leave it out for %s",
				f.name, f.least, f.without)}
		}
	}
	return nil
}

// flagOf is what a flag is called that sets a field: of minHold it is min-hold.
func flagOf(field string) string {
	field, _, _ = strings.Cut(field, "[") // of a list
	var name strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 {
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}
