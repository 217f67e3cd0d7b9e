package redisbarrier

import (
	"errors"
	"fmt"
	"strings"
)

// marks is the key of a transaction's marks, in the slot of the first key.
func (b *Barrier) marks(transaction string, keys []string) (string, error) {
	if len(keys) == 0 {
		return "", errors.New("script has no key, so nobody knows where the marks belong")
	}
	tag, err := tagOf(keys[0])
	if err != nil {
		return "", err
	}
	return b.opts.Prefix + "{" + tag + "}:" + transaction, nil
}

// tagOf is what decides on the slot of a key: its hash tag, or all of it.
func tagOf(key string) (string, error) {
	_, after, open := strings.Cut(key, "{")
	if tag, _, closed := strings.Cut(after, "}"); open && closed && tag != "" {
		return tag, nil
	}
	if key == "" || strings.Contains(key, "}") {
		return "", fmt.Errorf("key %q: no other key can be put into its slot; give it a hash tag", key)
	}
	return key, nil
}

// transaction takes the key of marks apart again.
func (b *Barrier) transaction(marks string) (string, bool) {
	rest, ok := strings.CutPrefix(marks, b.opts.Prefix+"{")
	if !ok {
		return "", false
	}
	_, transaction, ok := strings.Cut(rest, "}:")
	return transaction, ok
}

// field is where a hash of marks has that of one operation.
func field(op, branch string) string { return op + ":" + branch }
