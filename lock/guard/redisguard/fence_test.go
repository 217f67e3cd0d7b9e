package redisguard_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/redisguard"
)

// lifeOf returns for how long a key lives: -1 is for ever.
func lifeOf(s *testenv.RedisServer, key string) time.Duration {
	left := s.Do("PTTL", key).(int64)
	if left < 0 {
		return -1
	}
	return time.Duration(left) * time.Millisecond
}

// TestGuardsKeepTokensForDifferentTimes: an older release, or another service, has a TTL where this one has none, or a
// shorter one. A token is kept for as long as the one with the longest wants, whoever has shown it last.
func TestGuardsKeepTokensForDifferentTimes(t *testing.T) {
	t.Parallel()
	s := testenv.Redis(t, nil)
	for library, conn := range conns(t, false, s.Addr()) {
		for name, c := range map[string]struct {
			first, second time.Duration
			least         time.Duration // that it lives then
		}{
			"a TTL, then none":         {first: time.Minute, second: 0, least: -1},
			"none, then a TTL":         {first: 0, second: time.Minute, least: -1},
			"a long TTL, then a short": {first: time.Hour, second: time.Second, least: time.Hour - 30*time.Second},
			"a short TTL, then a long": {first: time.Second, second: time.Hour, least: time.Hour - 30*time.Second},
			"none, and none":           {first: 0, second: 0, least: -1},
			"a TTL, and the same":      {first: time.Hour, second: time.Hour, least: time.Hour - 30*time.Second},
		} {
			for _, higher := range []uint64{0, 1} {
				t.Run(library+"/"+name, func(t *testing.T) {
					a := over(t, conn, &redisguard.Options{TTL: c.first})
					b := over(t, conn, &redisguard.Options{TTL: c.second})
					mustAccept(t, a.Announce(t.Context(), ticket(t, 5)))
					mustAccept(t, b.Announce(t.Context(), ticket(t, 5+higher)))
					mustAccept(t, b.Set(t.Context(), ticket(t, 5+higher), "value"+t.Name(), "newest"))
					life := lifeOf(s, "bedrock:guard:{"+t.Name()+"}")
					if (life == -1) != (c.least == -1) || life < c.least || life > time.Hour {
						t.Errorf("the token lives for %v, want at least %v", life, c.least)
					}
					wantStale(t, a.Set(t.Context(), ticket(t, 4), "value"+t.Name(), "old"), 4, 5+higher)
				})
			}
		}
	}
}

// TestNoTokenAtTheKey: what is none there is an error, not leave to write with any token.
func TestNoTokenAtTheKey(t *testing.T) {
	t.Parallel()
	s := testenv.Redis(t, nil)
	for name, conn := range conns(t, false, s.Addr()) {
		t.Run(name, func(t *testing.T) {
			g := over(t, conn, nil)
			key := "bedrock:guard:{" + t.Name() + "}"
			for _, bad := range []string{
				"", "abc", "-1", "0", "inf", "nan", "-nan", "0x10", "1e3", "5.5", " 7 ", "7\n", "007", "+7",
			} {
				s.Do("SET", key, bad)
				for _, token := range []uint64{9000, 2} {
					if err := g.Announce(t.Context(), ticket(t, token)); err == nil {
						t.Errorf("%q: %d is accepted", bad, token)
					}
				}
				if got := s.Do("GET", key); got != bad {
					t.Errorf("%q has become %v", bad, got)
				}
			}
			s.Do("DEL", key)
			s.Do("RPUSH", key, "1")
			if err := g.Announce(t.Context(), guard.Ticket{Name: t.Name(), Token: 3}); err == nil {
				t.Error("a list is taken for a token")
			}
		})
	}
}
