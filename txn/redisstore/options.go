package redisstore

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
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
		return Options{}, fmt.Errorf("redisstore: Prefix %q: braces would change the slots of keys", filled.Prefix)
	}
	return filled, nil
}

// checkClient refuses clients that know several servers which know nothing of
// one another.
func checkClient(client redis.UniversalClient) error {
	switch client.(type) {
	case nil:
		return errors.New("redisstore: client is nil")
	case *redis.Ring:
		return errors.New("redisstore: a redis.Ring loses keys when its servers change; use a cluster")
	default:
		return nil
	}
}
