package lock

import "testing"

// TestHoldsForgetNobodyElse: what one holder gives back leaves the others in place.
func TestHoldsForgetNobodyElse(t *testing.T) {
	for gone := range 4 {
		var s holds
		all := []*hold{{}, {}, {}}
		for _, h := range all {
			s.add(h)
		}
		if gone < len(all) {
			s.remove(all[gone])
		} else {
			s.remove(&hold{})
		}
		left := make(map[*hold]bool)
		for h := s.first; h != nil; h = h.beside {
			left[h] = true
		}
		for i, h := range all {
			if left[h] == (i == gone) {
				t.Errorf("after %d was removed, %d is there: %t", gone, i, left[h])
			}
		}
	}
}

// TestWantsDifferInAnything: a grant is passed on to nobody who wants something else.
func TestWantsDifferInAnything(t *testing.T) {
	plain := want{name: "a", ttl: 1, meta: "m"}
	for what, change := range map[string]func(*want){
		"name": func(w *want) { w.name = "b" }, "mode": func(w *want) { w.mode++ },
		"permits": func(w *want) { w.permits++ },
		"limit":   func(w *want) { w.limit++ }, "ttl": func(w *want) { w.ttl++ },
		"fixed":   func(w *want) { w.fixed = true },
		"minHold": func(w *want) { w.minHold++ }, "fair": func(w *want) { w.fair = true },
		"meta": func(w *want) { w.meta = "" },
	} {
		other := plain
		change(&other)
		if other == plain {
			t.Errorf("another %s makes no difference", what)
		}
	}
}
