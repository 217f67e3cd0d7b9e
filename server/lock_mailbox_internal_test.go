package server

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestMailboxIsFull: what was counted as told is told to every grant of a client that is slow, in order, and to each
// only what came last of a kind.
func TestMailboxIsFull(t *testing.T) {
	const grants = 5000
	box := newMailbox("")
	message := func(i int, kind driver.MessageKind, reason string) driver.Message {
		return driver.Message{
			Name: "a", Owner: "me:" + strconv.Itoa(i), Kind: kind, Plea: driver.Plea{Reason: reason},
		}
	}
	for _, reason := range []string{"first", "last"} {
		for i := range grants {
			box.putMessage(message(i, driver.Asked, reason))
		}
	}
	for i := range grants {
		box.putMessage(message(i, driver.Taken, ""))
	}
	want := func(m driver.Message) {
		t.Helper()
		if got, err := box.takeLetter(t.Context()); err != nil || got.granted || got.message != m {
			t.Fatalf("next is %+v, %v; want %+v", got, err, m)
		}
	}
	for i := range grants {
		want(message(i, driver.Asked, "last"))
	}
	box.putMessage(message(0, driver.Asked, "again"))
	for i := range grants {
		want(message(i, driver.Taken, ""))
	}
	want(message(0, driver.Asked, "again"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := box.takeLetter(ctx); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an empty one: %+v, %v", m, err)
	}
	if len(box.waiting)+len(box.order) > 0 {
		t.Errorf("%d slots are taken", len(box.waiting)+len(box.order))
	}
}

// TestAMailboxLosesAGrant: each is of another owner, and one that is known by its tokens is not to be asked for.
func TestAMailboxLosesAGrant(t *testing.T) {
	box := newMailbox("")
	one := driver.Grant{Name: "a", Owner: "me:1", Token: 7, Tokens: 1}
	for _, g := range []driver.Grant{one, {Name: "a", Owner: "me:2"}, {Name: "a", Owner: "me:1"}, {Name: "a"}} {
		box.putGrant(g)
	}
	box.putMessage(driver.Message{Name: "a", Owner: "me:1", Kind: driver.Wanted})
	two := driver.Grant{Name: "a", Owner: "me:2", Token: 9, Tokens: 2}
	box.putGrant(two)
	for _, want := range []driver.Grant{one, two, {Name: "a"}} {
		if got, err := box.takeLetter(t.Context()); err != nil || !got.granted || got.grant != want {
			t.Errorf("next is %+v, %v; want %+v", got, err, want)
		}
	}
	if got, err := box.takeLetter(t.Context()); err != nil || got.granted {
		t.Errorf("the message is %+v, %v", got, err)
	}
}

// TestStandingsGrowForEver: nobody releases what has run out.
func TestStandingsGrowForEver(t *testing.T) {
	var s standings
	for i := range 10 * fewStandings {
		s.add(strconv.Itoa(i), "me", -time.Second)
	}
	if n := len(s.byName); n > fewStandings {
		t.Errorf("%d are kept", n)
	}
	s.add("a", "me", time.Minute)
	if !s.stands("a", "me") || s.stands("a", "you") || s.stands("1", "me") {
		t.Error("wrong ones stand")
	}
	s.remove("a", "me")
	if s.stands("a", "me") {
		t.Error("it stands still")
	}
}

// TestTheDeadStand: who stands for one name is forgotten when its claim has run out, however long others stand for it.
func TestTheDeadStand(t *testing.T) {
	var s standings
	for i := range 10 * fewStandings {
		s.add("job", strconv.Itoa(i), time.Nanosecond)
	}
	s.add("job", "the last one", time.Minute)
	if n := len(s.byName["job"]); n > 3*fewStandings || !s.stands("job", "the last one") {
		t.Errorf("%d are remembered, one of whom stands", n)
	}
}
