package reach

import (
	"sync"

	"github.com/bedrock-go/bedrock/txn"
)

// maxTargets bounds a Cache: targets may contain anything, such as an order's number.
const maxTargets = 4096

// Cache remembers what was made of targets. The zero value is ready.
type Cache[T any] struct {
	mu   sync.RWMutex
	made map[txn.Target]T
}

// Get returns what was made of a target, or makes it.
func (c *Cache[T]) Get(target txn.Target, create func(txn.Target) (T, error)) (T, error) {
	c.mu.RLock()
	value, ok := c.made[target]
	c.mu.RUnlock()
	if ok {
		return value, nil
	}
	value, err := create(target)
	if err == nil {
		c.add(target, value)
	}
	return value, err
}

// add starts over when the cache is full, which costs less than knowing what is old.
func (c *Cache[T]) add(target txn.Target, value T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil || len(c.made) >= maxTargets {
		c.made = make(map[txn.Target]T)
	}
	c.made[target] = value
}
