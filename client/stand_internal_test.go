package client

import (
	"strconv"
	"testing"
	"time"
)

// TestStandingsGrowForEver: of those that have run out nothing is kept.
func TestStandingsGrowForEver(t *testing.T) {
	var s standings
	for i := range 10 * fewStandings {
		s.add("me:"+strconv.Itoa(i), standing{name: "a", until: time.Now().Add(-time.Second)})
	}
	if n := len(s.byOwner); n > fewStandings {
		t.Errorf("%d are kept", n)
	}
	if names := s.names(); len(names) > 0 || len(s.byOwner) > 0 {
		t.Errorf("they stand for %q", names)
	}
}

// TestAGrantIsOvertakenByItsRefusal: it was told before the answer to the request that stands was here.
func TestAGrantIsOvertakenByItsRefusal(t *testing.T) {
	var s standings
	s.add("me:1", standing{name: "a", until: time.Now().Add(time.Minute)})
	if _, stood := s.remove("me:1"); !stood {
		t.Error("it did not stand")
	}
	s.enterClaim("me:1", 7, time.Now().Add(time.Minute))
	if names := s.names(); len(names) > 0 {
		t.Errorf("it stands for %q, which it has", names)
	}
}

// TestWhoWasRefusedAPlaceIsKept: only who has stood may be granted the lock yet.
func TestWhoWasRefusedAPlaceIsKept(t *testing.T) {
	var s standings
	later := time.Now().Add(time.Minute)
	s.add("me:1", standing{name: "a", until: later})
	s.removeUnclaimed("me:1")
	if names := s.names(); len(names) > 0 {
		t.Errorf("it stands for %q", names)
	}
	s.add("me:2", standing{name: "b", until: later})
	s.enterClaim("me:2", 7, later)
	s.add("me:2", standing{name: "b", until: later})
	s.removeUnclaimed("me:2")
	if one, stood := s.remove("me:2"); !stood || one.token != 7 {
		t.Errorf("%+v, %t", one, stood)
	}
}
