package memlock_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// client is one of a store, and what was granted to it unasked.
type client struct {
	driver.Backend
	t    *testing.T
	told []driver.Grant
}

// clients makes some of one store.
func clients(t *testing.T, n int) []*client {
	store := memlock.NewStore(nil)
	var all []*client
	for range n {
		c := &client{Backend: memlock.NewBackend(store), t: t}
		c.Backend.(driver.Successor).Inherit(func(g driver.Grant) { c.told = append(c.told, g) })
		all = append(all, c)
	}
	return all
}

func fair(owner string) driver.Request {
	return driver.Request{Name: "a", Owner: owner, Fair: true, Waits: true, TTL: time.Minute, Tokens: 2}
}

func plain(owner string) driver.Request {
	return driver.Request{Name: "a", Owner: owner, TTL: time.Minute, Tokens: 2}
}

func (c *client) take(req driver.Request) driver.Grant {
	c.t.Helper()
	g, err := c.Acquire(c.t.Context(), req)
	if err != nil {
		c.t.Fatalf("%s: %v", req.Owner, err)
	}
	return g
}

func (c *client) giveBack(g driver.Grant) {
	c.t.Helper()
	if _, err := c.Release(c.t.Context(), g); err != nil {
		c.t.Fatalf("release by %s: %v", g.Owner, err)
	}
}

// refusal is how the store refuses a request, which may stand.
func (c *client) refusal(req driver.Request, stands bool) *driver.HeldError {
	c.t.Helper()
	ask := c.Acquire
	if stands {
		ask = c.Backend.(driver.Successor).Stand
	}
	_, err := ask(c.t.Context(), req)
	refusal, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		c.t.Fatalf("%s: want a refusal, got %v", req.Owner, err)
	}
	return refusal
}

// TestWhoIsGrantedUnaskedHasTheClaim: nothing shows that its client lives still, but what it had asked for is known.
func TestWhoIsGrantedUnaskedHasTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clients(t, 2)
		held := c[0].take(fair("h"))
		refusal := c[1].refusal(fair("w"), true)
		if want := (driver.HeldError{
			Owner: "h", TTL: time.Minute, Claim: 5 * time.Second, Again: 5 * time.Second,
			Token: held.Token + 1, Place: 1,
		}); *refusal != want {
			t.Errorf("told %+v, want %+v", *refusal, want)
		}
		time.Sleep(time.Second)
		c[0].giveBack(held)
		if len(c[1].told) != 1 {
			t.Fatalf("told of %+v", c[1].told)
		}
		want := driver.Grant{Name: "a", Owner: "w", TTL: time.Minute, Token: held.Token + 2, Tokens: 2}
		if got := c[1].told[0]; got != want {
			t.Errorf("told of %+v, want %+v", got, want)
		}
		if left := c[0].refusal(plain("p"), false).TTL; left != 5*time.Second {
			t.Errorf("it lives for %s", left)
		}
		time.Sleep(5 * time.Second)
		c[0].giveBack(c[0].take(plain("p")))
	})
}

// TestAPlainReleaseServesTheLineFirst, before who stands behind the holder: that one has tokens that are older than
// those of the line, so it is woken, and asks anew.
func TestAPlainReleaseServesTheLineFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clients(t, 3)
		held := c[0].take(plain("h"))
		c[1].refusal(plain("p"), true)
		watch, err := c[1].Backend.(driver.Waiter).Watch(t.Context(), "a", driver.Mutex)
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Close()
		c[2].refusal(fair("w"), true)
		c[0].giveBack(held)
		if len(c[1].told) > 0 || len(c[2].told) != 1 {
			t.Fatalf("who stands behind was granted %+v, the line %+v", c[1].told, c[2].told)
		}
		if watch.Count() == 0 {
			t.Error("who stands behind sleeps for as long as the holder had")
		}
		c[2].giveBack(c[2].told[0])
		g := c[1].take(plain("p"))
		if before := c[2].told[0]; g.Token < before.Token+uint64(before.Tokens) {
			t.Errorf("token %d after %+v", g.Token, before)
		}
		c[1].giveBack(g)
	})
}

// TestPlainRequestsPassTheLine by what is free, as package lock says: it is between the two that no order is kept.
func TestPlainRequestsPassTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clients(t, 2)
		held := c[0].take(fair("h"))
		c[1].refusal(fair("w"), false)
		c[0].giveBack(held)
		g := c[0].take(plain("p"))
		if refusal := c[1].refusal(fair("w"), false); refusal.Owner != "p" || refusal.Waits || refusal.Place != 1 {
			t.Errorf("told %+v", refusal)
		}
		c[0].giveBack(g)
		c[1].giveBack(c[1].take(fair("w")))
	})
}

// TestTheLineIsServedWhenSomebodyAsks: nobody tells it that the holder's time is over.
func TestTheLineIsServedWhenSomebodyAsks(t *testing.T) {
	for _, stands := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := clients(t, 3)
			dies := fair("h")
			dies.TTL = 3 * time.Second
			c[0].take(dies)
			watch, err := c[1].Backend.(driver.TurnWaiter).WatchTurn(t.Context(), "a", "w")
			if err != nil {
				t.Fatal(err)
			}
			defer watch.Close()
			c[1].refusal(fair("w"), stands)
			time.Sleep(4 * time.Second)
			refusal := c[2].refusal(fair("next"), stands)
			granted := len(c[1].told) == 1
			if refusal.Owner != "w" || refusal.Waits == stands || granted != stands || watch.Count() > 0 == stands {
				t.Errorf("stands %v: told %+v, granted %v, woken %d", stands, refusal, granted, watch.Count())
			}
			left, place := time.Second, 2
			if stands {
				left, place = 5*time.Second, 1
			}
			if refusal.TTL != left || refusal.Place != place {
				t.Errorf("stands %v: told %+v", stands, refusal)
			}
			c[1].giveBack(c[1].take(fair("w")))
		})
	}
}

// TestOnlyTheFirstIsTold of its turn: of a release, of a life cut short, and when who was before it has left.
func TestOnlyTheFirstIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clients(t, 3)
		held := c[0].take(fair("h"))
		var watches []driver.Watch
		for i, owner := range []string{"", "w1", "w2"} {
			if i == 0 {
				watches = append(watches, nil)
				continue
			}
			c[i].refusal(fair(owner), false)
			w, err := c[i].Backend.(driver.TurnWaiter).WatchTurn(t.Context(), "a", owner)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			watches = append(watches, w)
		}
		told := func(what string, first, second uint64) {
			t.Helper()
			if a, b := watches[1].Count(), watches[2].Count(); a != first || b != second {
				t.Errorf("%s: the first was told %d times, the second %d, want %d, %d", what, a, b, first, second)
			}
		}
		short := held
		short.TTL = time.Second
		if errs := c[0].Renew(t.Context(), []driver.Grant{short}); errs[0] != nil {
			t.Fatal(errs[0])
		}
		told("cut short", 1, 0)
		c[0].giveBack(held)
		told("released", 2, 0)
		if _, err := c[1].Release(t.Context(), driver.Grant{Name: "a", Owner: "w1"}); !errors.Is(err, driver.ErrLost) {
			t.Errorf("want ErrLost, got %v", err)
		}
		told("the first has left", 2, 1)
		c[2].giveBack(c[2].take(fair("w2")))
	})
}

// TestTheLineWaitsForAMutex: a name may become something else while nobody has it. Then nobody is granted a mutex
// there.
func TestTheLineWaitsForAMutex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clients(t, 2)
		held := c[0].take(fair("h"))
		c[1].refusal(fair("w1"), false)
		c[1].refusal(fair("w2"), true)
		c[0].giveBack(held)
		reader, err := ask(t, c[0], driver.Shared, "r")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c[1].Release(t.Context(), driver.Grant{Name: "a", Owner: "w1"})
		if len(c[1].told) > 0 {
			t.Errorf("granted beside a reader: %+v", c[1].told)
		}
		if _, err := c[1].Acquire(t.Context(), fair("w2")); !errors.Is(err, driver.ErrKind) {
			t.Errorf("want ErrKind, got %v", err)
		}
		c[0].giveBack(reader)
		c[1].giveBack(c[1].take(fair("w2")))
	})
}

// TestFairReadersAreRefused: only a mutex has such a line.
func TestFairReadersAreRefused(t *testing.T) {
	req := fair("r")
	req.Mode = driver.Shared
	c := clients(t, 1)[0]
	for what, ask := range map[string]func() error{
		"acquire": func() error { _, err := c.Acquire(t.Context(), req); return err },
		"stand":   func() error { _, err := c.Backend.(driver.Successor).Stand(t.Context(), req); return err },
	} {
		if err := ask(); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%s: want ErrUnsupported, got %v", what, err)
		}
	}
}

// TestWhoHearsNothingIsGrantedNothingUnasked: it stands, but nobody can tell it.
func TestWhoHearsNothingIsGrantedNothingUnasked(t *testing.T) {
	c := &client{Backend: memlock.NewBackend(nil), t: t}
	held := c.take(fair("h"))
	if refusal := c.refusal(fair("w"), true); refusal.Claim != 0 || !refusal.Listen || refusal.Place != 1 {
		t.Errorf("told %+v", refusal)
	}
	c.giveBack(held)
	c.giveBack(c.take(fair("w")))
}

// TestLinesThatDiedAreForgotten: those who waited leave names that nobody may ever ask for again.
func TestLinesThatDiedAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clients(t, 1)[0]
		abandon := func(n int) {
			for i := range n {
				holds, waits := fair("h"), fair("w")
				holds.Name = fmt.Sprint(strings.Repeat("x", 500), i)
				waits.Name, waits.TTL = holds.Name, time.Millisecond
				g := c.take(holds)
				c.refusal(waits, false)
				c.giveBack(g)
				time.Sleep(time.Millisecond)
			}
		}
		checkForgotten(t, "lines that have died", abandon)
		runtime.KeepAlive(c)
	})
}
