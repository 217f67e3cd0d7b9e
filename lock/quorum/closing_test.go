package quorum_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// TestCloseWhileOthersAsk: the backend is closed while requests are made and given back, without an end.
func TestCloseWhileOthersAsk(t *testing.T) {
	endWhileAsked(t, 4, 4, func(t *testing.T, nodes []driver.Backend) (ask func(i, j int), end func() error) {
		b, err := quorum.NewBackend(nodes, &quorum.Options{Quarantine: -1})
		if err != nil {
			t.Fatal(err)
		}
		ask = func(i, j int) {
			req := driver.Request{
				Name: fmt.Sprint("a", i), Owner: fmt.Sprint("o:", i, "-", j), TTL: time.Second, Tokens: 1,
			}
			if g, err := b.Acquire(t.Context(), req); err == nil {
				_, _ = b.Release(t.Context(), g) // it may be closed
			}
		}
		return ask, b.Close
	})
}

// TestStopWhileOthersInspect: a process stops its client while it looks at a lock.
func TestStopWhileOthersInspect(t *testing.T) {
	endWhileAsked(t, 40, 1, func(t *testing.T, nodes []driver.Backend) (ask func(i, j int), end func() error) {
		c, err := quorum.New(nodes, &quorum.Options{Quarantine: -1})
		if err != nil {
			t.Fatal(err)
		}
		ask = func(int, int) { _, _ = c.Inspect(t.Context(), "a") } // it may be closed
		return ask, func() error { return c.Stop(context.Background()) }
	})
}

// endWhileAsked has several ask, without a pause, while something is ended; so many times at once.
func endWhileAsked(
	t *testing.T, times, askers int,
	open func(t *testing.T, nodes []driver.Backend) (ask func(i, j int), end func() error),
) {
	t.Helper()
	var all sync.WaitGroup
	defer all.Wait()
	for range times {
		_, backends := severaltest.NewServers(3).Connect()
		ask, end := open(t, backends)
		stop, asked := make(chan struct{}), make(chan struct{}, askers)
		for i := range askers {
			all.Go(func() {
				for j := 0; ; j++ {
					select {
					case <-stop:
						return
					default:
					}
					if ask(i, j); j == 5 {
						asked <- struct{}{}
					}
				}
			})
		}
		all.Go(func() {
			defer close(stop)
			<-asked
			if err := end(); err != nil {
				t.Errorf("it does not end in order: %v", err)
			}
		})
	}
}
