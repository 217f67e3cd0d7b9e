package subject

import (
	"errors"
	"math/rand/v2"
	"strconv"
)

// compareAndDelete is the customary unlock script.
const compareAndDelete = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`

var (
	errTaken   = errors.New("key is taken")
	errNotHeld = errors.New("key is not held")
)

// values makes the random values that tell a raw lock's holders apart, as
// cheaply as it can be done.
type values struct {
	prefix string
	count  uint64
}

func newValues() values {
	return values{prefix: strconv.FormatUint(rand.Uint64(), 36) + ":"}
}

func (v *values) nextValue() string {
	v.count++
	return v.prefix + strconv.FormatUint(v.count, 36)
}

// closing adapts a Close method that reports nothing.
func closing(end func()) func() error {
	return func() error {
		end()
		return nil
	}
}
