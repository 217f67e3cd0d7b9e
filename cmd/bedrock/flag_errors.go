package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/input"
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
