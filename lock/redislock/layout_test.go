package redislock

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

func TestKeysAreRedissons(t *testing.T) {
	k := redissonLayout().of("orders/42", "uuid:7")
	want := keys{
		"orders/42", "redisson_lock_token:{orders/42}", "redisson_lock__channel:{orders/42}",
		"redisson_unlock_latch:{orders/42}:uuid",
	}
	if k != want {
		t.Errorf("got %+v, want %+v", k, want)
	}
	k = redissonLayout().of("{orders}/42", "uuid:7")
	want = keys{
		"{orders}/42", "redisson_lock_token:{orders}/42", "redisson_lock__channel:{orders}/42",
		"redisson_unlock_latch:{orders}/42:uuid:tagged",
	}
	if k != want {
		t.Errorf("got %+v, want %+v", k, want)
	}
}

// nasty are names that could meet, or break a key apart.
func nasty() []string {
	names := []string{
		"a", "{a}", "{a}b", "a{b}", "}{", "{}", "{", "}", "a}b", "{a", "{{a}}", "{a}{b}", "job", "job/1", "job/",
		"/job", "//job",
		"a:b", "a::b", ":a", "a:", "*", "?", "[a]", `\`, "%2f", "'", `"`, ";--", "`",
		" a", "a ", "  ", "Job", "é", "e\u0301", "😀",
		"\u202egnp", "0", "-1", "redisson", "redisson_lock", "bedrock:grant", "mode", uuidLike + ":1",
		"x:{y}", "{y}:x", "y}:{z", "token:{x}", "redisson_lock__channel", strings.Repeat("n", 512),
	}
	for _, l := range []layout{redissonLayout(), redlockLayout()} {
		for _, inner := range []string{"a", "{a}", "{a}b"} {
			k := l.of(inner, uuidLike+":1")
			names = append(names, k.token, k.latch, k.channel)
		}
	}
	return names
}

const uuidLike = "aaaaaaaa-0000-4000-8000-000000000001"

// TestNamesMeet: the keys in which a lock is, and those beside it, are different
// for all names that are accepted; only counters and channels may be shared,
// and those only between "x" and "{x}", as in Redisson.
func TestNamesMeet(t *testing.T) {
	for _, l := range []layout{redissonLayout(), redlockLayout()} {
		owner := make(map[string]string) // of a key
		for _, name := range nasty() {
			if checkName(name, false) != nil {
				continue
			}
			k := l.of(name, uuidLike+":1")
			for _, key := range []string{k.name, k.latch, "token " + k.token} {
				other, taken := owner[key]
				if taken && other != name && !(strings.HasPrefix(key, "token ") && sameTag(name, other)) {
					t.Errorf("%q and %q meet in %q", name, other, key)
				}
				owner[key] = name
			}
			if other, taken := owner[k.token]; taken {
				t.Errorf("the counter of %q is the lock %q", name, other)
			}
		}
	}
}

func sameTag(a, b string) bool { return "{"+a+"}" == b || "{"+b+"}" == a }

func TestClusterKeepsKeysOfANameTogether(t *testing.T) {
	for _, name := range nasty() {
		err := checkName(name, true)
		if err != nil {
			wantRefusedName(t, name, err)
			continue
		}
		for _, l := range []layout{redissonLayout(), redlockLayout()} {
			k := l.of(name, uuidLike+":1")
			for _, key := range []string{k.token, k.channel, k.latch} {
				if redisconn.Slot(key) != redisconn.Slot(name) {
					t.Errorf("%q is in slot %d, its key %q in %d", name, redisconn.Slot(name), key, redisconn.Slot(key))
				}
			}
		}
	}
}

func TestReservedNamesAreRefused(t *testing.T) {
	for _, name := range []string{
		"redisson_lock_token:{a}", "redisson_lock_queue:{a}", "redisson_unlock_latch:{a}:x", "bedrock_token:{a}",
		"bedrock:{3}:tx:order-7", "bedrock:{0}:queue",
	} {
		wantRefusedName(t, name, checkName(name, false))
	}
}

// wantRefusedName wants to be told that the name is what is wrong, and that asking again is no use.
func wantRefusedName(t *testing.T, name string, err error) {
	t.Helper()
	wrong, ok := errors.AsType[*lock.InvalidError](err)
	if !ok || wrong.Field != "name" || !errors.Is(err, lock.ErrInvalid) || !errors.Is(err, driver.ErrRefused) {
		t.Errorf("%q: %v does not refuse the name", name, err)
	}
}

func TestErrorClasses(t *testing.T) {
	for _, tt := range []struct {
		text string
		want error
	}{
		{"OOM command not allowed when used memory > 'maxmemory'.", driver.ErrUnavailable},
		{"READONLY You can't write against a read only replica. script: f, on @user_script:1.", driver.ErrUnavailable},
		{
			"ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't write",
			driver.ErrUnavailable,
		},
		{"LOADING Redis is loading the dataset in memory", driver.ErrUnavailable},
		{"ERR max number of clients reached", driver.ErrUnavailable},
		{"WRONGTYPE Operation against a key holding the wrong kind of value", driver.ErrRefused},
		{"NOPERM this user has no permissions", driver.ErrRefused},
		{"WRONGPASS invalid username-password pair or user is disabled.", driver.ErrRefused},
		{"NOAUTH Authentication required.", driver.ErrRefused},
		{"ERR unknown command 'EVALSHA'", driver.ErrRefused},
	} {
		cause := errors.New(tt.text)
		err := describe("acquire", "a", fmt.Errorf("wrapped: %w", &redisconn.ReplyError{Cause: cause}))
		if !errors.Is(err, tt.want) || !errors.Is(err, cause) {
			t.Errorf("%q: got %v, want %v and the cause", tt.text, err, tt.want)
		}
	}
}
