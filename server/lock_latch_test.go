package server_test

import (
	"strings"
	"testing"
)

// TestLatchesOverJSON: the count comes down to zero, and who listens hears of it.
func TestLatchesOverJSON(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"SetLatch", `{"name": "l", "id": "1", "count": 3}`).want(t, 200, `{"set":true}`)
	s.post(t, locks+"SetLatch", `{"name": "l", "id": "1", "count": 3}`).want(t, 200, `{"set":true}`)
	s.post(t, locks+"SetLatch", `{"name": "l", "count": 5}`).want(t, 200, `{}`)
	s.post(t, locks+"LatchCount", `{"name": "l"}`).want(t, 200, `{"count":3}`)
	listening := s.stream(t, locks+"Listen", `{"name": "l", "mode": "latch"}`)
	listening.message(t)
	s.post(t, locks+"CountDown", `{"name": "l"}`).want(t, 200, `{"left":2}`)
	s.post(t, locks+"CountDown", `{"name": "l", "id": "2", "by": 3}`).
		want(t, 400, "failed_precondition", `"kind":"below_zero"`, `"left":2`, `"by":3`, "cannot count down by 3")
	s.post(t, locks+"CountDown", `{"name": "l", "by": 2}`).want(t, 200, `{}`)
	listening.message(t)
	s.post(t, locks+"LatchCount", `{"name": "l"}`).want(t, 200, `{}`)
	s.post(t, locks+"SetLatch", `{"name": "l", "count": 1}`).want(t, 200, `{"set":true}`)
	listening.message(t)
	s.post(t, locks+"DropLatch", `{"name": "l"}`).want(t, 200, `{"dropped":true}`)
	listening.message(t)
	s.post(t, locks+"DropLatch", `{"name": "l"}`).want(t, 200, `{}`)
}

// TestALatchIsALock to who asks for one under its name, or the other way round.
func TestALatchIsALock(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"SetLatch", `{"name": "l", "count": 1}`).want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "l"}`).want(t, 400, `"kind":"other_kind"`, `"found":"latch"`)
	s.post(t, locks+"AcquireAll", `{"requests": [{"name": "a"}, {"name": "l"}]}`).want(t, 400, `"found":"latch"`)
	s.post(t, locks+"Acquire", `{"name": "a"}`).want(t, 200)
	s.post(t, locks+"SetLatch", `{"name": "a", "count": 1}`).want(t, 400, `"found":"mutex"`, `"wanted":"latch"`)
}

// TestLatchesAreCheckedByTheStore, which may keep them for ever.
func TestLatchesAreCheckedByTheStore(t *testing.T) {
	s := serve(t, config(t), nil)
	long := strings.Repeat("x", 129)
	for _, test := range []struct{ method, body, want string }{
		{"SetLatch", `{"name": "l"}`, "count: is 0, allowed are 1 to 1073741824"},
		{"SetLatch", `{"name": "l", "count": 1073741825}`, "count: is 1073741825"},
		{"SetLatch", `{"count": 1}`, "name: is empty"},
		{"SetLatch", `{"name": "l", "id": "` + long + `", "count": 1}`, "id: is 129 bytes long"},
		{"CountDown", `{"name": "l", "id": "a\nb"}`, "id: "},
		{"CountDown", `{"name": "l", "by": 1073741825}`, "by: is 1073741825"},
		{"CountDown", `{"name": "l", "by": -1}`, "by: "},
		{"LatchCount", `{}`, "name: is empty"},
		{"DropLatch", `{"name": "a\nb"}`, "name: "},
	} {
		s.post(t, locks+test.method, test.body).want(t, 400, "invalid_argument", test.want)
	}
	told := s.stream(t, locks+"Listen", `{"name": "l", "mode": "latchkey"}`).message(t)
	if !strings.Contains(told, "mode") {
		t.Errorf("a mode that is none: %s", told)
	}
}
