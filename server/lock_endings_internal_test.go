package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestAnEndIsToldForTwo: each grant ends once, in whatever order its releases are answered, and whether or not anybody
// knows what became of one. Steps are a release that begins, the answer to one that has, or a renewal that was in vain.
func TestAnEndIsToldForTwo(t *testing.T) {
	for _, test := range []struct{ name, steps, want string }{
		{"repeated", "begin ok begin lost begin ok", "released"},
		{"a copy is answered earlier", "begin begin lost ok", "released"},
		{"both copies find nothing", "begin begin lost lost", "lost"},
		{"a store that is away", "begin away begin lost", "lost"},
		{"a break before the store heard of it", "begin broken begin ok", "released"},
		{"a break after that", "begin broken begin lost begin lost", "released"},
		{"a break, and nobody repeats it", "begin broken", ""},
		{"a break, and a renewal finds out", "begin broken gone gone", "released"},
		{"a renewal finds out, and releases", "gone gone begin lost", "lost"},
		{"a renewal finds out meanwhile", "begin gone ok", "released"},
		{"a renewal finds out meanwhile, and nobody knows why", "begin gone broken", "released"},
		{"given up before it was granted", "give-up lost begin lost", ""},
		{"given up, and granted all the same", "give-up lost begin ok begin lost", "released"},
		{"given up twice", "give-up ok give-up ok", "released released"},
		{"given up by one who comes again", "give-up ok begin ok", "released released"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := play(&endings{}, strings.Fields(test.steps)); got != test.want {
				t.Errorf("%s: told %q, want %q", test.steps, got, test.want)
			}
		})
	}
}

// play returns what is told of a grant.
func play(e *endings, steps []string) string {
	answers := map[string]error{
		"ok": nil, "lost": driver.ErrLost, "away": driver.ErrUnavailable, "broken": errors.New("connection reset"),
	}
	var under []driver.Grant
	var fates []*fate
	var told []string
	tell := func(event *LockEvent) {
		if event != nil {
			told = append(told, string(event.Kind))
		}
	}
	g := driver.Grant{Name: "a", Owner: "me", Token: 7}
	for _, step := range steps {
		switch step {
		case "begin", "give-up":
			released := g
			if step == "give-up" {
				released.Token = 0
			}
			under, fates = append(under, released), append(fates, e.beginRelease(&released))
		case "gone":
			tell(e.hasGone(&g, driver.ErrLost))
		default:
			last := len(under) - 1
			tell(e.endRelease(&under[last], fates[last], answers[step]))
			under, fates = under[:last], fates[:last]
		}
	}
	return strings.Join(told, " ")
}

// TestEndingsFillTheMemory: of many the latest are remembered.
func TestEndingsFillTheMemory(t *testing.T) {
	var e endings
	end := func(token uint64) *LockEvent {
		return e.hasGone(&driver.Grant{Name: "a", Owner: "me", Token: token}, driver.ErrLost)
	}
	for i := range uint64(4 * keptEndings) {
		if end(i+1) == nil {
			t.Fatalf("the end of grant %d is not told", i+1)
		}
	}
	if n := len(e.latest) + len(e.before); n > 2*keptEndings {
		t.Errorf("%d are kept", n)
	}
	if end(4*keptEndings) != nil || end(3*keptEndings+1) != nil || end(1) == nil {
		t.Error("the latest are forgotten, or the first is not")
	}
}
