package redislock_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// agency is a backend by which many clients stand in line, as that of a server.
type agency struct {
	driver.Backend
	told chan driver.Grant
}

// newAgency returns a backend by which clients attend, and that listens for the releases of a name.
func newAgency(t *testing.T, s *testenv.RedisServer, name string, clients ...string) (a *agency, stop []func()) {
	t.Helper()
	a = &agency{open(t, connectGoredis(t, single(s)), nil), make(chan driver.Grant, 100)}
	a.Backend.(driver.Successor).Inherit(func(g driver.Grant) { a.told <- g })
	w, err := a.Backend.(driver.Waiter).Watch(ctxFor(t), name, driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	for _, client := range clients {
		stop = append(stop, a.attend(t, client))
	}
	return a, stop
}

func (a *agency) attend(t *testing.T, client string) (stop func()) {
	t.Helper()
	stop, err := a.Backend.(driver.Attender).Attend(ctxFor(t), client, func(driver.Message) {})
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// stands returns the refusal of a request that stands.
func (a *agency) stands(t *testing.T, name, owner string) *driver.HeldError {
	t.Helper()
	refusal := a.refused(t, name, owner)
	if refusal.Claim != 5*time.Second || refusal.Token == 0 {
		t.Fatalf("%s does not stand: %+v", owner, refusal)
	}
	return refusal
}

func (a *agency) refused(t *testing.T, name, owner string) *driver.HeldError {
	t.Helper()
	req := request(name, owner)
	req.Meta = `{"host":"h"}`
	_, err := a.Backend.(driver.Successor).Stand(ctxFor(t), req)
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		t.Fatalf("want a refusal, got %v", err)
	}
	return held
}

// granted returns what is told next, as it comes back over a wire.
func (a *agency) granted(t *testing.T, owner string) driver.Grant {
	t.Helper()
	select {
	case g := <-a.told:
		if g.Owner != owner {
			t.Fatalf("told of %+v, want the grant of %s", g, owner)
		}
		g.Handle = nil
		return g
	case <-time.After(5 * time.Second):
		t.Fatalf("nothing was granted to %s", owner)
		return driver.Grant{}
	}
}

// TestClientsOfOneBackendStandForEachOther: each has a place of its own, and is told of its own grant.
func TestClientsOfOneBackendStandForEachOther(t *testing.T) {
	server := testenv.Redis(t, nil)
	a := open(t, connectGoredis(t, single(server)), nil)
	g := held(t, a, "a", uuidA+":1")
	both, stop := newAgency(t, server, "a", uuidB, uuidC)
	defer stop[0]()
	defer stop[1]()
	if refusal := both.refused(t, "a", "dddddddd-0000-4000-8000-000000000004:1"); refusal.Claim != 0 {
		t.Errorf("one stands whose client does not attend: %+v", refusal)
	}
	first, second := both.stands(t, "a", uuidB+":1"), both.stands(t, "a", uuidC+":1")
	if second.Token <= first.Token {
		t.Errorf("tokens from %d, and from %d for who stands behind", first.Token, second.Token)
	}
	both.stands(t, "a", uuidB+":1") // again: it keeps its place
	mustRelease(t, a, g)
	one := both.granted(t, uuidB+":1")
	mustRelease(t, both, one)
	two := both.granted(t, uuidC+":1")
	if one.Token != first.Token || two.Token != second.Token || one.Tokens < 1 || two.Tokens < 1 {
		t.Errorf("granted %+v and %+v, want tokens %d and %d", one, two, first.Token, second.Token)
	}
	mustRelease(t, both, two)
	if server.Do("EXISTS", "a") != int64(0) {
		t.Error("the lock is still there")
	}
}

// TestWhoAttendsNoMoreIsGrantedTheLock: the next one has it, and nobody is there for the first that ever came.
func TestWhoAttendsNoMoreIsGrantedTheLock(t *testing.T) {
	server := testenv.Redis(t, nil)
	a := open(t, connectGoredis(t, single(server)), nil)
	g := held(t, a, "a", uuidA+":1")
	both, stop := newAgency(t, server, "a")
	both.refused(t, "a", uuidB+":1") // the first that comes
	awaitListeners(t, server, "bedrock_client:"+uuidB[:18], 1)
	stop = append(stop, both.attend(t, uuidB), both.attend(t, uuidC))
	defer stop[1]()
	both.stands(t, "a", uuidB+":1")
	both.stands(t, "a", uuidC+":1")
	stop[0]()
	awaitListeners(t, server, "bedrock_client:"+uuidB[:18], 0)
	mustRelease(t, a, g)
	mustRelease(t, both, both.granted(t, uuidC+":1"))
	if server.Do("EXISTS", "a") != int64(0) {
		t.Error("the lock is still there")
	}
}

// TestAClientThatAttendsTwiceIsToldNothing of its tokens the second time: it would ask for what it has.
func TestAClientThatAttendsTwiceIsToldNothing(t *testing.T) {
	server := testenv.Redis(t, nil)
	a := open(t, connectGoredis(t, single(server)), nil)
	g := held(t, a, "a", uuidA+":1")
	both, stop := newAgency(t, server, "a", uuidB, uuidB)
	both.stands(t, "a", uuidB+":1")
	stop[0]() // the connection that is broken is found to be so
	both.stands(t, "a", uuidB+":1")
	stop = append(stop, both.attend(t, uuidB))
	defer stop[1]()
	defer stop[2]()
	mustRelease(t, a, g)
	one := both.granted(t, uuidB+":1")
	if one.Tokens < 1 {
		t.Errorf("told of %+v", one)
	}
	select {
	case again := <-both.told:
		t.Errorf("told again, of %+v", again)
	case <-time.After(50 * time.Millisecond):
	}
	mustRelease(t, both, one)
}

// TestAGrantThatIsMissedIsForNobody: when the connection for subscriptions breaks, each of those who stand is told to
// ask by its own name, and no other client with it.
func TestAGrantThatIsMissedIsForNobody(t *testing.T) {
	server := testenv.Redis(t, nil)
	a := open(t, connectGoredis(t, single(server)), nil)
	held(t, a, "a", uuidA+":1")
	both, stop := newAgency(t, server, "a", uuidB, uuidC)
	defer stop[0]()
	defer stop[1]()
	both.stands(t, "a", uuidB+":1")
	both.stands(t, "a", uuidC+":1")
	server.Do("CLIENT", "KILL", "TYPE", "pubsub")
	asked := make(map[string]bool)
	for late := time.After(5 * time.Second); len(asked) < 2; {
		select {
		case g := <-both.told:
			if g.Tokens != 0 || g.Name != "a" {
				t.Fatalf("told of %+v", g)
			}
			asked[g.Owner] = true
		case <-late:
			t.Fatalf("told to ask: %v", asked)
		}
	}
	if !asked[uuidB+":1"] || !asked[uuidC+":1"] {
		t.Errorf("told to ask: %v", asked)
	}
}

// TestStrangersToAServerAreKeptOut: grants come back without what was known of them, and all clients of the server
// listen by one connection. Who stands in no line has its turn all the same, wherever it listens.
func TestStrangersToAServerAreKeptOut(t *testing.T) {
	for where, here := range map[string]bool{"at the server": true, "elsewhere": false} {
		t.Run(where, func(t *testing.T) {
			server := testenv.Redis(t, nil)
			all, stop := newAgency(t, server, "a", uuidB, uuidC)
			defer stop[0]()
			defer stop[1]()
			stranger := all.Backend
			if !here {
				stranger = open(t, connectGoredis(t, single(server)), nil)
			}
			for range 2 { // one of them may be taken for that of who has the lock
				w, err := stranger.(driver.Waiter).Watch(ctxFor(t), "a", driver.Mutex)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
			}
			a := open(t, connectGoredis(t, single(server)), nil)
			g := held(t, a, "a", uuidA+":1")
			clients := []string{uuidB, uuidC}
			all.stands(t, "a", uuidB+":1")
			mustRelease(t, a, g)
			start, passed := time.Now(), 0
			for ; server.Do("EXISTS", "a") == int64(1) && passed < 200; passed++ {
				g := all.granted(t, fmt.Sprint(clients[passed%2], ":", passed+1))
				all.stands(t, "a", fmt.Sprint(clients[(passed+1)%2], ":", passed+2))
				mustRelease(t, all, g)
			}
			if took := time.Since(start); passed < 32 && took < longestPassed || passed > 32 {
				t.Errorf("passed on %d times in %s", passed, took)
			}
		})
	}
}
