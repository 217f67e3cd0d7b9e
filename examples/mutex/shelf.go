package main

import (
	"errors"
	"sync"
)

// shelf is what must not be taken from twice. It remembers the highest token that it has
// seen of each order, and so is safe also from those who do not know that they have lost
// the lock.
type shelf struct {
	mu      sync.Mutex
	shipped map[int]int
	highest map[int]uint64
}

func newShelf() *shelf {
	return &shelf{shipped: make(map[int]int), highest: make(map[int]uint64)}
}

var errLate = errors.New("the shelf has seen a higher token")

// takeGoods takes an order's goods.
func (s *shelf) takeGoods(order int, token uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token < s.highest[order] {
		return errLate
	}
	s.highest[order] = token
	s.shipped[order]++
	return nil
}

// count returns how often an order was shipped.
func (s *shelf) count(order int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shipped[order]
}
