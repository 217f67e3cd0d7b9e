// Package memlock keeps locks in the memory of one process: the reference for
// every other backend, and a lock service for tests and single-process programs
// that costs nothing to start.
//
// It has all capabilities, and it runs in virtual time inside a testing/synctest
// bubble, so that hours of renewals pass in milliseconds.
package memlock

import (
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// New returns a client of a store. A nil store means a new one, which only this
// client uses.
func New(store *Store, opts *lock.Options) (*lock.Client, error) {
	return lock.New(NewBackend(store), opts)
}

// NewBackend returns a backend on a store. A nil store means a new one.
func NewBackend(store *Store) driver.Backend {
	if store == nil {
		store = NewStore(nil)
	}
	return &backend{store: store}
}
