package tenure_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/internal/tenure"
)

// ended writes down what a book has ended.
type ended struct {
	mu  sync.Mutex
	all []string
	c   chan string
}

func newEnded() *ended { return &ended{c: make(chan string, 100)} }

func (e *ended) end(_ context.Context, value string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, value)
	e.c <- value
	return nil
}

func (e *ended) await(t *testing.T) string {
	t.Helper()
	select {
	case value := <-e.c:
		return value
	case <-time.After(10 * time.Second):
		t.Fatal("nothing has ended")
		return ""
	}
}

func in(d time.Duration) time.Duration { return bootclock.Now() + d }

// TestGrantOutlivesItsTime: what is not prolonged ends, soonest first, and once; what is taken out does not.
func TestGrantOutlivesItsTime(t *testing.T) {
	e := newEnded()
	b := tenure.New(e.end)
	defer b.Close()
	b.Put("taken", "taken", in(20*time.Millisecond))
	b.Put("late", "late", in(60*time.Millisecond))
	b.Put("soon", "soon", in(5*time.Millisecond))
	if value, ok := b.Take("taken"); !ok || value != "taken" {
		t.Errorf("took %q, %t", value, ok)
	}
	if first, second := e.await(t), e.await(t); first != "soon" || second != "late" {
		t.Errorf("%s ended, then %s", first, second)
	}
	if b.Len() != 0 {
		t.Errorf("%d are left", b.Len())
	}
	if b.Prolong("soon", in(time.Hour)) {
		t.Error("what has ended goes on")
	}
}

// TestProlongedGrantEnds: prolonged in time it goes on, put anew it has the new value.
func TestProlongedGrantEnds(t *testing.T) {
	e := newEnded()
	b := tenure.New(e.end)
	defer b.Close()
	b.Put("a", "old", in(time.Hour))
	b.Put("b", "b", in(20*time.Millisecond))
	if !b.Prolong("b", in(time.Hour)) {
		t.Error("it is not there")
	}
	b.Put("a", "new", in(40*time.Millisecond))
	if got := e.await(t); got != "new" {
		t.Errorf("%s ended", got)
	}
	if value, ok := b.Get("b"); !ok || value != "b" || b.Len() != 1 {
		t.Errorf("%q, %t, and %d are there", value, ok, b.Len())
	}
}

// TestEndIsTriedOnce: what could not be ended is tried again, until the book is closed.
func TestEndIsTriedOnce(t *testing.T) {
	tries := make(chan int, 100)
	n := 0
	b := tenure.New(func(context.Context, string) error {
		if n++; n == 3 {
			defer close(tries)
			return nil
		}
		return errors.New("no answer")
	})
	defer b.Close()
	b.Put("a", "a", in(0))
	select {
	case <-tries:
	case <-time.After(10 * time.Second):
		t.Fatal("it was given up")
	}
}

// TestCloseWaitsForEver: an end that gets no answer is left when the book is closed.
func TestCloseWaitsForEver(t *testing.T) {
	began := make(chan struct{})
	b := tenure.New(func(ctx context.Context, _ string) error {
		close(began)
		<-ctx.Done()
		return ctx.Err()
	})
	b.Put("a", "a", in(0))
	b.Put("b", "b", in(time.Hour))
	<-began
	b.Close()
	b.Put("c", "c", in(0))
	if b.Len() != 0 {
		t.Errorf("%d are left", b.Len())
	}
}

// TestManyEndAtOnce: many at a time, also long after the book was empty.
func TestManyEndAtOnce(t *testing.T) {
	e := newEnded()
	b := tenure.New(e.end)
	defer b.Close()
	for round := range 2 {
		for i := range 50 {
			b.Put(fmt.Sprint(i), fmt.Sprint(round), in(time.Duration(i%5)*time.Millisecond))
		}
		for range 50 {
			if got := e.await(t); got != fmt.Sprint(round) {
				t.Fatalf("%s ended in round %d", got, round)
			}
		}
	}
}
