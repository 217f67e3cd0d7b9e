package wheel

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEntriesComeDueExactlyOnceAndInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w Wheel
		want := map[*Entry]int64{}
		now := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0, 1:
				e := &Entry{}
				at := now + rapid.Int64Range(1, 1<<rapid.IntRange(1, 30).Draw(t, "bits")).Draw(t, "in")
				w.Schedule(e, at)
				want[e] = at
			case 2:
				for e := range want {
					w.Cancel(e)
					delete(want, e)
					break
				}
			case 3:
				now += rapid.Int64Range(0, 1<<rapid.IntRange(1, 31).Draw(t, "far")).Draw(t, "step")
				checkAdvance(t, &w, want, now)
			}
			if w.Len() != len(want) {
				t.Fatalf("Len() = %d, want %d", w.Len(), len(want))
			}
		}
	})
}

func checkAdvance(t *rapid.T, w *Wheel, want map[*Entry]int64, now int64) {
	next, ok := w.Next()
	for _, at := range want {
		if !ok || next > at {
			t.Fatalf("Next() = %d, %v with an entry due at %d", next, ok, at)
		}
	}
	for _, e := range w.Advance(now, nil) {
		if at, known := want[e]; !known || at > now {
			t.Fatalf("at %d an entry for %d came due (known %v)", now, at, known)
		}
		delete(want, e)
	}
	for _, at := range want {
		if at <= now {
			t.Fatalf("at %d the entry for %d did not come due", now, at)
		}
	}
}

func TestAPastTickIsDueAtTheNextAdvance(t *testing.T) {
	var w Wheel
	w.Advance(1000, nil)
	e := &Entry{}
	w.Schedule(e, 5)
	if got := w.Advance(1001, nil); !slices.Equal(got, []*Entry{e}) {
		t.Fatalf("Advance = %v, want the entry", got)
	}
}

func TestScheduleMovesAnEntry(t *testing.T) {
	var w Wheel
	e := &Entry{}
	w.Schedule(e, 10)
	w.Schedule(e, 5000)
	if got := w.Advance(4999, nil); len(got) != 0 || !e.Scheduled() {
		t.Fatalf("due too early: %v", got)
	}
	if got := w.Advance(5000, nil); len(got) != 1 || e.Scheduled() {
		t.Fatalf("not due: %v", got)
	}
}

func BenchmarkScheduleCancel(b *testing.B) {
	var w Wheel
	entries := make([]Entry, 1024)
	b.ReportAllocs()
	for i := range b.N {
		e := &entries[i%len(entries)]
		w.Schedule(e, int64(15_000+i%512))
	}
}
