package server

import (
	"sync"
	"testing"
)

// TestRefusedClientsFillTheRoom: one client asks on and on for more than it may have, and
// another, for which there is room, must not be refused because of that.
func TestRefusedClientsFillTheRoom(t *testing.T) {
	g := &gate{requests: room{size: 2}, callers: crowd{size: 1}}
	if _, err := g.takePlace("one", false); err != nil {
		t.Fatal(err)
	}
	enough := make(chan struct{})
	var refused sync.WaitGroup
	for range 4 {
		refused.Go(func() {
			for !isOver(enough) {
				if _, err := g.takePlace("one", false); err == nil {
					t.Error("one client has all the room")
				}
			}
		})
	}
	for range 100_000 {
		p, err := g.takePlace("other", false)
		if err != nil {
			t.Error(err)
			break
		}
		p.giveBack()
	}
	close(enough)
	refused.Wait()
}

func isOver(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
