package redisguard_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
	"github.com/bedrock-go/bedrock/lock/guard/redisguard"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

func TestMain(m *testing.M) {
	guardtest.PlayHolder(openWriter)
	goleak.VerifyTestMain(m,
		// rueidis closes connections to servers that have left a cluster 5 s late.
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"),
		// It looks at a cluster anew up to a second after a connection has ended, its last ones too.
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"),
	)
}

// conns are connections by each library.
func conns(t *testing.T, cluster bool, addrs ...string) map[string]redisconn.Conn {
	t.Helper()
	one := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: addrs, IsClusterMode: cluster})
	t.Cleanup(func() { _ = one.Close() })
	other, err := rueidisclient.NewClient(rueidisclient.ClientOption{InitAddress: addrs, ForceSingleClient: !cluster})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	return map[string]redisconn.Conn{"goredis": goredis.Wrap(one), "rueidis": rueidis.Wrap(other)}
}

func over(t *testing.T, conn redisconn.Conn, opts *redisguard.Options) *redisguard.Guard {
	t.Helper()
	g, err := redisguard.New(conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// withEach runs a test over both libraries.
func withEach(t *testing.T, test func(t *testing.T, s *testenv.RedisServer, g *redisguard.Guard)) {
	t.Helper()
	t.Parallel()
	s := testenv.Redis(t, nil)
	for name, conn := range conns(t, false, s.Addr()) {
		t.Run(name, func(t *testing.T) { test(t, s, over(t, conn, nil)) })
	}
}

func ticket(t *testing.T, token uint64) guard.Ticket {
	t.Helper()
	return guard.Ticket{Name: t.Name(), Token: token}
}

func wantStale(t *testing.T, err error, token, newest uint64) {
	t.Helper()
	stale, ok := errors.AsType[*guard.StaleError](err)
	if !ok || stale.Token != token || stale.Newest != newest {
		t.Errorf("token %d: %v, want a refusal that knows %d", token, err, newest)
	}
}

func mustAccept(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestTokensAreMixedUp(t *testing.T) {
	withEach(t, func(t *testing.T, s *testenv.RedisServer, g *redisguard.Guard) {
		for i, step := range []struct{ token, newest uint64 }{
			{5, 0},
			{5, 0},
			{4, 5},
			{10, 0},
			{9, 10},
			{10, 0},
			{1<<53 + 1, 0}, // beyond what the numbers of Lua keep apart
			{1 << 53, 1<<53 + 1},
			{driver.MaxToken - 1, 0},
			{driver.MaxToken, 0},
			{driver.MaxToken - 1, driver.MaxToken},
			{driver.MaxToken, 0},
		} {
			value := strconv.Itoa(i)
			announced := g.Announce(t.Context(), ticket(t, step.token))
			set := g.Set(t.Context(), ticket(t, step.token), "value", value)
			if step.newest > 0 {
				wantStale(t, announced, step.token, step.newest)
				wantStale(t, set, step.token, step.newest)
			} else {
				mustAccept(t, announced)
				mustAccept(t, set)
			}
			if written := s.Do("GET", "value") == value; written != (step.newest == 0) {
				t.Errorf("token %d: written %v", step.token, written)
			}
		}
	})
}

func TestNamesMeet(t *testing.T) {
	withEach(t, func(t *testing.T, _ *testenv.RedisServer, g *redisguard.Guard) {
		names := []string{
			"a", "A", "ä", "{a}", "a}", "{a", "{}a", ":{a}", "::{a}", "a{b}", "b{a}", "{a}:{a}", "日本 ", " ",
			strings.Repeat("x", driver.MaxName), strings.Repeat("é", driver.MaxName/2),
		}
		for i, name := range names {
			mustAccept(t, g.Announce(t.Context(), guard.Ticket{Name: name, Token: uint64(100 - i)}))
		}
		for i, name := range names {
			newest := uint64(100 - i)
			mustAccept(t, g.Set(t.Context(), guard.Ticket{Name: name, Token: newest}, "k", "v"))
			wantStale(t, g.Set(t.Context(), guard.Ticket{Name: name, Token: newest - 1}, "k", "v"), newest-1, newest)
		}
	})
}

// TestResultsAreLost: whatever a script returns comes back, also nothing, and so does its failure.
func TestResultsAreLost(t *testing.T) {
	withEach(t, func(t *testing.T, s *testenv.RedisServer, g *redisguard.Guard) {
		for text, want := range map[string]string{
			"return ARGV[1]": "x", "return redis.call('SET', KEYS[1], 'v')": "OK", "return #KEYS + #ARGV": "3",
			"return {1, {ARGV[2]}}": "[1 [y]]", "return nil": "nil", "": "nil", "return false": "nil",
		} {
			reply, err := g.Run(t.Context(), ticket(t, 1), redisguard.NewScript(text), []string{"k"}, "x", "y")
			if got := describe(reply); got != want || err != nil {
				t.Errorf("%s: %s, %v; want %s", text, got, err, want)
			}
		}
		for _, text := range []string{"return redis.error_reply('NO more')", "error('NO more')"} {
			_, err := g.Run(t.Context(), ticket(t, 1), redisguard.NewScript(text), nil)
			if err == nil || !strings.Contains(err.Error(), "NO more") || errors.Is(err, guard.ErrStale) {
				t.Errorf("%s: %v", text, err)
			}
		}
		s.Do("SET", "bedrock:guard:{other}", "text")
		if err := g.Announce(t.Context(), guard.Ticket{Name: "other", Token: 1}); err == nil {
			t.Error("a key that is no token was overwritten")
		}
	})
}

// describe writes a reply for people.
func describe(r redisconn.Reply) string {
	switch {
	case r.Nil:
		return "nil"
	case r.List != nil:
		items := make([]string, r.Len())
		for i := range items {
			items[i] = describe(r.At(i))
		}
		return fmt.Sprint(items)
	case r.Str != "":
		return r.Str
	}
	return strconv.FormatInt(r.Int, 10)
}

func TestRace(t *testing.T) {
	count := redisguard.NewScript(`redis.call('RPUSH', KEYS[1], ARGV[1])`)
	withEach(t, func(t *testing.T, s *testenv.RedisServer, g *redisguard.Guard) {
		guardtest.Contest{
			Announce: g.Announce,
			Append: func(ctx context.Context, ticket guard.Ticket) error {
				_, err := g.Run(ctx, ticket, count, []string{t.Name() + "/log"}, strconv.FormatUint(ticket.Token, 10))
				return err
			},
			Repeatable: func(error) bool { return false },
			Entries: func(t *testing.T) (tokens []uint64) {
				t.Helper()
				for _, text := range s.Do("LRANGE", t.Name()+"/log", 0, -1).([]any) {
					token, err := strconv.ParseUint(text.(string), 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					tokens = append(tokens, token)
				}
				return tokens
			},
		}.Run(t)
	})
}

// TestTokensAreForgotten: after a restart the server knows them as long as it knows the data; with a TTL they go when
// nobody has shown them for so long, and not before.
func TestTokensAreForgotten(t *testing.T) {
	t.Parallel()
	s := testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF})
	conn := conns(t, false, s.Addr())["goredis"]
	g := over(t, conn, nil)
	mustAccept(t, g.Announce(t.Context(), ticket(t, 2)))
	s.Kill()
	s.Restart(true)
	wantStale(t, g.Announce(t.Context(), ticket(t, 1)), 1, 2)

	brief := over(t, conn, &redisguard.Options{TTL: time.Minute})
	for range 2 {
		mustAccept(t, brief.Announce(t.Context(), guard.Ticket{Name: "brief", Token: 3}))
		key := "bedrock:guard:{brief}"
		if left := s.Do("PTTL", key).(int64); left < 59_000 || left > 60_000 {
			t.Errorf("%d ms are left", left)
		}
		s.Do("PEXPIRE", key, 1000)
	}
}

// TestKeysOfOtherSlots: nothing is sent where no server has all keys.
func TestKeysOfOtherSlots(t *testing.T) {
	t.Parallel()
	set := testenv.Cluster(t, 3, 0)
	for name, conn := range conns(t, true, set.Addrs()...) {
		t.Run(name, func(t *testing.T) {
			g := over(t, conn, nil)
			for _, c := range []struct {
				name, key string
				field     string // that is wrong
			}{
				{"orders/42", "price:{orders/42}", ""},
				{"orders/42", "orders/42", ""},
				{"a{b}", "x{b}", ""},
				{"orders/42", "price", "keys[0]"},
				{"a{b}", "a", "keys[0]"},
				{"a}b", "a}b", "name"},
			} {
				err := g.Set(t.Context(), guard.Ticket{Name: c.name, Token: 3}, c.key, "v")
				wrong, ok := errors.AsType[*input.Error](err)
				if ok != (c.field != "") || ok && wrong.Field != c.field || !ok && err != nil {
					t.Errorf("%s at %s: %v, want %q", c.name, c.key, err, c.field)
				}
				mustAccept(t, g.Announce(t.Context(), guard.Ticket{Name: c.name, Token: 3}))
				wantStale(t, g.Announce(t.Context(), guard.Ticket{Name: c.name, Token: 2}), 2, 3)
			}
		})
	}
}

type watcher struct{ events []lock.Event }

func (w *watcher) Observe(_ context.Context, e lock.Event) { w.events = append(w.events, e) }

func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	w := &watcher{}
	g := over(t, conns(t, false, testenv.Redis(t, nil).Addr())["goredis"], &redisguard.Options{Observer: w})
	mustAccept(t, g.Announce(t.Context(), ticket(t, 2)))
	wantStale(t, g.Announce(t.Context(), ticket(t, 1)), 1, 2)
	wantStale(t, g.Set(t.Context(), ticket(t, 1), "k", "v"), 1, 2)
	if len(w.events) != 2 || w.events[1].Kind != lock.EventRefused || w.events[1].Name != t.Name() {
		t.Errorf("%+v", w.events)
	}
}

// TestContextsAreHeeded: also when the server does not answer.
func TestContextsAreHeeded(t *testing.T) {
	t.Parallel()
	s := testenv.Redis(t, nil)
	g := over(t, conns(t, false, s.Addr())["goredis"], nil)
	mustAccept(t, g.Announce(t.Context(), ticket(t, 1)))
	s.Freeze()
	defer s.Thaw()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := g.Announce(ctx, ticket(t, 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestWrongInput(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer client.Close()
	conn := goredis.Wrap(client)
	g := over(t, conn, nil)
	for want, got := range map[string]error{
		"name":   g.Announce(t.Context(), guard.Ticket{Token: 1}),
		"token":  g.Set(t.Context(), guard.Ticket{Name: "a"}, "k", "v"),
		"conn":   second(redisguard.New(nil, nil)),
		"prefix": second(redisguard.New(conn, &redisguard.Options{Prefix: "{a}"})),
		"s":      second(g.Run(t.Context(), guard.Ticket{Name: "a", Token: 1}, nil, nil)),
		"ttl":    second(redisguard.New(conn, &redisguard.Options{TTL: 5})),
	} {
		if wrong, ok := errors.AsType[*input.Error](got); !ok || wrong.Field != want {
			t.Errorf("%s: %v", want, got)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// shelf is a writer to one key.
type shelf struct {
	*redisguard.Guard

	key string
}

func (s shelf) Write(ctx context.Context, t guard.Ticket, value string) error {
	return s.Set(ctx, t, s.key, value)
}

func openWriter(_ context.Context, where []string) (guardtest.Writer, error) {
	g, err := redisguard.New(goredis.Wrap(redis.NewClient(&redis.Options{Addr: where[0]})), nil)
	return shelf{g, where[1]}, err
}

func TestPausedHolderWrites(t *testing.T) {
	t.Parallel()
	s := testenv.Redis(t, nil) // another one than that of the locks
	guardtest.PausedHolderWrites(t, func(t *testing.T) guardtest.Resource {
		t.Helper()
		w := shelf{over(t, conns(t, false, s.Addr())["rueidis"], nil), t.Name()}
		return guardtest.Resource{Writer: w, Where: []string{s.Addr(), t.Name()}, Value: func(t *testing.T) string {
			t.Helper()
			value, _ := s.Do("GET", w.key).(string)
			return value
		}}
	})
}
