package lanes_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
)

func TestTargetsTakeTurns(t *testing.T) {
	d := lanes.NewDrains()
	for _, name := range []string{"a", "b", "a", "c", "b"} {
		d.Add(name)
	}
	take := func() string {
		name, _ := d.Take()
		return name
	}
	var taken []string
	for range 2 {
		name := take()
		taken = append(taken, name)
		d.Add(name) // there is more of it
	}
	taken = append(taken, take(), take(), take())
	wantEqual(t, "taken", taken, []string{"a", "b", "c", "a", "b"})
	if name, ok := d.Take(); ok {
		t.Errorf("%q is listed twice", name)
	}
}

// TestNoTargetIsLeftWaiting draws when targets recover, how long it takes to drain one, and how
// many do that side by side: each is taken, and as soon as somebody has time.
func TestNoTargetIsLeftWaiting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		workers := rapid.IntRange(1, 4).Draw(rt, "workers")
		takes := time.Duration(rapid.IntRange(0, 3).Draw(rt, "takes")) * time.Second
		names := rapid.SliceOfNDistinct(rapid.StringMatching("[a-z]{1,3}"), 1, 20, rapid.ID[string]).Draw(rt, "names")
		virtually(t, func(t *testing.T) {
			d, began := lanes.NewDrains(), time.Now()
			var mu sync.Mutex
			var drained []string
			for range workers {
				go func() {
					for {
						select {
						case <-d.Some():
						case <-t.Context().Done():
							return
						}
						name, ok := d.Take()
						if !ok {
							continue
						}
						time.Sleep(takes)
						mu.Lock()
						drained = append(drained, name)
						mu.Unlock()
					}
				}()
			}
			for _, name := range names {
				d.Add(name)
			}
			turns := (len(names) + workers - 1) / workers
			time.Sleep(time.Until(began.Add(time.Duration(turns)*takes + time.Nanosecond)))
			mu.Lock()
			defer mu.Unlock()
			slices.Sort(drained)
			if !slices.Equal(drained, slices.Sorted(slices.Values(names))) {
				rt.Errorf("%q after %v: want all of %q", drained, time.Since(began), names)
			}
		})
	})
}
