package redislock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// missing is what a user may lack of that which passing on needs.
type missing struct {
	rights string // all that the user has
	passed bool   // locks are passed on without it
}

func missingRights() map[string]missing {
	const keys = "~a ~elsewhere ~redisson_lock_token:* ~redisson_unlock_latch:* ~redisson_lock__channel:*"
	return map[string]missing{
		"HMGET":               {rights: "~* &* +@all -hmget"},
		"RENAME":              {rights: "~* &* +@all -rename"},
		"INFO":                {rights: "~* &* +@all -info", passed: true},
		"PUBSUB":              {rights: "~* &* +@all -pubsub", passed: true},
		"the client channels": {rights: "~* &redisson_lock__channel:* +@all"},
		"the heirs' keys":     {rights: keys + " &* +@all"},
	}
}

// limited is the target of a user with those rights.
func limited(s *testenv.RedisServer, rights string) target {
	s.Do(append([]any{"ACL", "SETUSER", "locker", "reset", "on", ">secret"}, words(rights)...)...)
	to := single(s)
	to.user, to.pass = "locker", "secret"
	return to
}

func words(text string) (all []any) {
	for word := range strings.FieldsSeq(text) {
		all = append(all, word)
	}
	return all
}

// TestUserMayNotPassOn: whatever that needs is missing, to both or to one of two clients, everything goes on as without
// it.
func TestUserMayNotPassOn(t *testing.T) {
	for lacks, tt := range missingRights() {
		t.Run(lacks, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				to := limited(server, tt.rights)
				if passed := toAndFro(t, server, connect, to, to); passed > 0 != tt.passed {
					t.Errorf("%d were passed on", passed)
				}
				toAndFro(t, server, connect, to, single(server))
			})
		})
	}
}

// TestRightsAreTakenAwayWhileSomebodyStands: a release that may not pass the lock on frees it, and who stood in line
// has it by asking, with higher tokens.
func TestRightsAreTakenAwayWhileSomebodyStands(t *testing.T) {
	for lacks, tt := range missingRights() {
		t.Run(lacks, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				a := open(t, connect(t, limited(server, "~* &* +@all")), nil)
				g := held(t, a, "a", uuidA+":1")
				b := newStander(t, connect(t, single(server)), uuidB, "a")
				c := newStander(t, connect(t, single(server)), uuidC, "a")
				b.stands(t, request("a", uuidB+":1"))
				c.stands(t, request("a", uuidC+":1"))
				limited(server, tt.rights)
				mustRelease(t, a, g)
				mustRelease(t, a, g) // again: it is known
				next := b.ownOrAsk(t, tt.passed, request("a", uuidB+":1"))
				if next.Token < g.Token+uint64(g.Tokens) {
					t.Errorf("token %d after %d and %d more", next.Token, g.Token, g.Tokens-1)
				}
				if !tt.passed {
					c.stands(t, request("a", uuidC+":1"))
				}
				mustRelease(t, b, next)
				last := c.granted(t)
				if last.Token < next.Token+uint64(next.Tokens) {
					t.Errorf("token %d after %d and %d more", last.Token, next.Token, next.Tokens-1)
				}
				mustRelease(t, c, last)
			})
		})
	}
}

// ownOrAsk returns what was granted unasked, or what is granted to who asks at once.
func (s *stander) ownOrAsk(t *testing.T, told bool, req driver.Request) driver.Grant {
	t.Helper()
	if told {
		return s.granted(t)
	}
	g, err := s.stand(t, req)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestReleaseThatMayTellNobody is refused, and nothing has happened; or it is a success, and the lock is free.
func TestReleaseThatMayTellNobody(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		for _, stands := range []bool{false, true} {
			server := testenv.Redis(t, nil)
			a := open(t, connect(t, limited(server, "~* &* +@all")), nil)
			g := held(t, a, "a", uuidA+":1")
			b := newStander(t, connect(t, single(server)), uuidB, "a")
			if stands {
				b.stands(t, request("a", uuidB+":1"))
			}
			limited(server, "~* &* +@all -publish")
			_, err := a.Release(ctxFor(t), g)
			if err != nil && !errors.Is(err, driver.ErrRefused) {
				t.Errorf("release: %v", err)
			}
			if has := server.Do("HEXISTS", "a", g.Owner) == int64(1); has != (err != nil) {
				t.Errorf("somebody stands: %t; release: %v; it has the lock: %t", stands, err, has)
			}
			if _, again := a.Release(ctxFor(t), g); (again == nil) != (err == nil) {
				t.Errorf("somebody stands: %t; release: %v; and again: %v", stands, err, again)
			}
		}
	})
}

// TestShortHoldsAreNoTime: those who wait and are seen by nobody have the lock after the longest time all the same,
// even if it is passed on hundreds of times by then. The same where a user may not ask who listens.
func TestShortHoldsAreNoTime(t *testing.T) {
	for name, rights := range map[string]string{
		"not seen": "~* &* +@all", "not counted": "~* &* +@all -pubsub",
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				to := limited(server, rights)
				start := time.Now()
				held, passed := untilFree(t, server, func() redisconn.Conn { return connect(t, to) })
				if took := time.Since(start); took < longestPassed || held > 2*longestPassed {
					t.Errorf("it was passed on %d times in %s, and held for %s in all", passed, took, held)
				}
			})
		})
	}
}

const longestPassed = 100 * time.Millisecond

// untilFree has two clients pass the lock "a" to and fro until it is free, or was held for far too long. It returns for
// how long it was held in all, and how often it was passed on.
func untilFree(
	t *testing.T, server *testenv.RedisServer, connect func() redisconn.Conn,
) (had time.Duration, times int) {
	t.Helper()
	a := open(t, connect(), nil)
	g := held(t, a, "a", uuidA+":1")
	clients := []string{uuidB, uuidC}
	all := []*stander{newStander(t, connect(), uuidB, "a"), newStander(t, connect(), uuidC, "a")}
	all[0].stands(t, request("a", uuidB+":1"))
	mustRelease(t, a, g)
	for ; server.Do("EXISTS", "a") == int64(1) && had < 5*longestPassed; times++ {
		here, next := times%2, (times+1)%2
		g := all[here].granted(t)
		start := time.Now()
		all[next].stands(t, request("a", fmt.Sprint(clients[next], ":", times+2)))
		had += time.Since(start)
		mustRelease(t, all[here], g)
	}
	return had, times
}
