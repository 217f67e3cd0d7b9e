package remote

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// openPool returns a pool that is never asked for a connection.
func openPool(t *testing.T, size int) *sql.DB {
	t.Helper()
	db := stdlib.OpenDB(pgx.ConnConfig{})
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(size)
	return db
}

// TestRoomForRequests has many come and some give up: there are never too many, and in the end all room is there.
func TestRoomForRequests(t *testing.T) {
	s := New(openPool(t, 5), "t", Dialect{})
	endKeeping := s.KeepOne()
	var all sync.WaitGroup
	var within, most, given atomic.Int64
	for i := range 32 {
		name := string(rune('a' + i%3))
		all.Go(func() {
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(500*time.Microsecond))
				err := s.InRoom(ctx, name, func(own context.Context) error {
					given.Add(1)
					for n := within.Add(1); n > most.Load(); {
						most.Store(n)
					}
					<-time.After(rand.N(50 * time.Microsecond))
					within.Add(-1)
					return s.InRoom(own, name, func(context.Context) error { return nil })
				})
				cancel()
				if err != nil && !errors.Is(err, driver.ErrUnavailable) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if given.Load() == 0 || most.Load() > 3 {
		t.Errorf("%d were there at a time, of %d; want 3 of 5, as one is kept", most.Load(), given.Load())
	}
	endKeeping()
	for n := range 4 {
		if _, err := s.takeRoom(t.Context(), "a"); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// TestRoomOfSmallPools has one request at least go on.
func TestRoomOfSmallPools(t *testing.T) {
	for size, want := range map[int]int{1: 1, 2: 1, 3: 2} {
		s := New(openPool(t, size), "t", Dialect{})
		for n := range want + 1 {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if _, err := s.takeRoom(ctx, "a"); (err == nil) != (n < want) {
				t.Errorf("request %d of a pool of %d: %v", n, size, err)
			}
			cancel()
		}
	}
}

// TestManyOfOneNameKeepAnotherOut: they have taken all room, and many more of them wait. Another name has the next turn
// but one.
func TestManyOfOneNameKeepAnotherOut(t *testing.T) {
	s := New(openPool(t, 2), "t", Dialect{})
	given := make(chan string)
	wait := func(name string) {
		before := s.room.waiting()
		go func() {
			if _, err := s.takeRoom(t.Context(), name); err == nil {
				given <- name
			}
		}()
		for s.room.waiting() == before {
			runtime.Gosched()
		}
	}
	if _, err := s.takeRoom(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		wait("a")
	}
	wait("b")
	var order string
	for range 51 {
		s.giveRoom(t.Context())
		order += <-given
	}
	if at := strings.Index(order, "b"); at > 1 || len(s.room.queues) > 0 {
		t.Errorf("they had room in the order %s, and the queues %v are left", order, s.room.queues)
	}
}

// waiting returns how many requests have no room.
func (r *room) waiting() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, queue := range r.queues {
		n += len(queue)
	}
	return n
}
