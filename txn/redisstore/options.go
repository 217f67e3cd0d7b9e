package redisstore

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/input"
)

// Options configure a store. The zero value and nil mean the defaults.
type Options struct {
	// Prefix begins every key. Stores with different prefixes share nothing.
	// Defaults to "bedrock:".
	Prefix string
	// AllowVolatile accepts a server that may lose everything: one that keeps
	// nothing on disk, or that evicts keys when its memory is full.
	AllowVolatile bool
}

func (o *Options) withDefaults() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	filled.Prefix = cmp.Or(filled.Prefix, "bedrock:")
	if strings.ContainsAny(filled.Prefix, "{}") {
		problem := fmt.Sprintf("%q: braces would change the slots of keys", filled.Prefix)
		return Options{}, fmt.Errorf("redisstore: %w", &input.Error{Field: "prefix", Problem: problem})
	}
	return filled, nil
}
