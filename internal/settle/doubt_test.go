package settle_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// doubtOf returns the doubt that n requests leave behind which go on until end is closed.
func doubtOf(n int, end <-chan struct{}) *settle.Doubt {
	var d *settle.Doubt
	for range n {
		d = d.After(&driver.UnderwayError{Err: errors.New("left"), Ended: end})
	}
	return d
}

// TestTwoWhoWaitForOneDoubtTakeItsEndsFromEachOther: what is kept for a minimum hold time is
// waited for by whoever keeps it and by the clean-up. With -race once is enough.
func TestTwoWhoWaitForOneDoubtTakeItsEndsFromEachOther(t *testing.T) {
	end := make(chan struct{})
	close(end)
	for range 1000 {
		d := doubtOf(30, end)
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				if !d.Wait(t.Context()) || !d.Ended() {
					t.Error("all requests have ended, and the doubt has not")
				}
			})
		}
		group.Wait()
	}
}

func TestAWaitForADoubtOutlivesItsContext(t *testing.T) {
	d := doubtOf(2, make(chan struct{}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d.Wait(ctx) || d.Ended() {
		t.Error("requests that are under way have ended")
	}
}
