// Command tcc books trips with a TCC transaction whose tries the caller makes
// itself: a seat and a room are reserved first, and then both are booked, or both
// are free again. The first trip is booked, the second finds no room, and the caller
// of the third falls silent, so that its seat is let go at the deadline.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	seats, rooms := newHouse("seats", 2), newHouse("rooms", 1)
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		return err
	}
	if err := errors.Join(co.Register("seats", seats.confirmOrCancel), co.Register("rooms", rooms.confirmOrCancel),
		co.Start(ctx)); err != nil {
		return err
	}
	for _, name := range []string{"first", "second"} {
		fmt.Fprintf(out, "%s trip: %s\n\t%s, %s\n", name, book(ctx, co, name, seats, rooms), seats, rooms)
	}
	fmt.Fprintf(out, "third trip: %s\n\t%s, %s\n", fallSilent(ctx, co, seats), seats, rooms)
	return co.Stop(ctx)
}

// book reserves both, and books both if that was possible.
func book(ctx context.Context, co txn.Coordinator, trip string, seats, rooms *house) string {
	res, err := tcc.Do(ctx, co, "trip", func(ctx context.Context, t *tcc.Transaction) error {
		return errors.Join(t.Try(ctx, seats.branch(), seats.reserve), t.Try(ctx, rooms.branch(), rooms.reserve))
	}, &tcc.Options{ID: trip})
	if err != nil {
		return err.Error()
	}
	return string(res.Outcome)
}

// fallSilent reserves a seat, and then neither commits nor cancels.
func fallSilent(ctx context.Context, co txn.Coordinator, seats *house) string {
	t, err := tcc.Begin(ctx, co, "trip", &tcc.Options{ID: "third", Timeout: 500 * time.Millisecond})
	if err == nil {
		err = t.Try(ctx, seats.branch(), seats.reserve)
	}
	if err == nil {
		_, err = t.Wait(ctx)
	}
	return fmt.Sprint(err)
}

// house is a participant with a number of places. A real one keeps them in a
// database, behind package barrier.
type house struct {
	name string

	mu       sync.Mutex
	free     int
	reserved map[string]bool // by transaction; false: let go, and not to be reserved any more
	booked   int
}

func newHouse(name string, free int) *house {
	return &house{name: name, free: free, reserved: make(map[string]bool)}
}

func (h *house) branch() tcc.Branch {
	target := txn.Target(h.name)
	return tcc.Branch{ID: h.name, Confirm: target, Cancel: target}
}

// reserve is the try. The call in the context says for whom.
func (h *house) reserve(ctx context.Context) error {
	call, _ := txn.CallFrom(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	held, known := h.reserved[call.Transaction]
	switch {
	case held:
		return nil
	case known:
		return errors.New("the trip is over")
	case h.free == 0:
		return fmt.Errorf("no %s left", h.name)
	}
	h.free--
	h.reserved[call.Transaction] = true
	return nil
}

// confirmOrCancel is called by the coordinator with the decision, until it has answered.
func (h *house) confirmOrCancel(_ context.Context, call txn.Call) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.reserved[call.Transaction]
	h.reserved[call.Transaction] = false
	switch {
	case held && call.Op == "confirm":
		h.booked++
	case held:
		h.free++
	}
	return nil, nil
}

func (h *house) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("%s: %d booked, %d free", h.name, h.booked, h.free)
}
