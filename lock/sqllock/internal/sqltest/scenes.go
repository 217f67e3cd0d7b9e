package sqltest

import (
	"context"
	"database/sql"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Request asks for a mutex.
func Request(name, owner string) driver.Request {
	return driver.Request{Name: name, Owner: owner, TTL: time.Minute, Tokens: 1}
}

// StopAfter stops a client when the test is over.
func StopAfter(t testing.TB, c *lock.Client) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

// ManyMakeTheTables has several clients come to a database that has no tables.
func ManyMakeTheTables(t *testing.T, open func() driver.Backend) {
	t.Helper()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			b := open()
			if _, err := b.Acquire(t.Context(), Request(strconv.Itoa(i), "o:1")); err != nil {
				t.Error(err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// PoolIsUsedUp has many of one client take locks that nobody has had before, over one connection: nobody who has it
// waits for another.
func PoolIsUsedUp(t *testing.T, db *sql.DB, open func(*sql.DB) (driver.Backend, error)) {
	t.Helper()
	db.SetMaxOpenConns(1)
	b, err := open(db)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			g, err := b.Acquire(t.Context(), Request(strconv.Itoa(i), "o:1"))
			if err == nil {
				_, err = b.Release(t.Context(), g)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkPair has one goroutine take and give back one lock.
func BenchmarkPair(b *testing.B, c *lock.Client) {
	b.Helper()
	StopAfter(b, c)
	m := c.Mutex("a", nil)
	for b.Loop() {
		l, err := m.Lock(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Unlock(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
