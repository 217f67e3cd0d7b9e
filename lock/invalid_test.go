package lock_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
)

// badArgument is an argument that must be refused, naming the field and the
// limit, before the backend is asked.
type badArgument struct {
	name  string
	field string
	limit string
	call  func(ctx context.Context, locks *lock.Client) error
}

func lockNamed(name string) func(context.Context, *lock.Client) error {
	return lockWith(name, nil)
}

func lockWith(name string, opts *lock.MutexOptions) func(context.Context, *lock.Client) error {
	return func(ctx context.Context, locks *lock.Client) error {
		_, err := locks.Mutex(name, opts).Lock(ctx)
		return err
	}
}

func doWith(opts *lock.DoOptions) func(context.Context, *lock.Client) error {
	return func(ctx context.Context, locks *lock.Client) error {
		return lock.Do(ctx, locks.Mutex("a", nil), nothing, opts)
	}
}

func nothing(context.Context, *lock.Lease) error { return nil }

func badArguments() []badArgument {
	return []badArgument{
		{"empty name", "name", "empty", lockNamed("")},
		{"long name", "name", "512", lockNamed(strings.Repeat("n", 513))},
		{"NUL", "name", "control character", lockNamed("a\x00b")},
		{"line break", "name", "control character", lockNamed("a\nb")},
		{"delete", "name", "control character", lockNamed("a\x7f")},
		{"C1 control", "name", "control character", lockNamed("a\u0085b")},
		{"not UTF-8", "name", "UTF-8", lockNamed("a\xff")},
		{"half a rune", "name", "UTF-8", lockNamed("\xe2\x82")},
		{"short TTL", "ttl", "10ms", lockWith("a", &lock.MutexOptions{TTL: 10*time.Millisecond - 1})},
		{"long TTL", "ttl", "24h", lockWith("a", &lock.MutexOptions{TTL: 24*time.Hour + 1})},
		{"negative TTL", "ttl", "10ms", lockWith("a", &lock.MutexOptions{TTL: -1})},
		{"long metadata", "meta", "4096", lockWith("a",
			&lock.MutexOptions{Meta: map[string]string{"a": strings.Repeat("x", 4096)}})},
		{"metadata not UTF-8", "meta", "UTF-8", lockWith("a",
			&lock.MutexOptions{Meta: map[string]string{"a": "b", "c\xff": "d"}})},
		{"negative wait", "wait", "1ms", lockWith("a", &lock.MutexOptions{Wait: -1})},
		{"negative minimum", "minHold", "0", lockWith("a", &lock.MutexOptions{MinHold: -1})},
		{"long minimum", "minHold", "24h", lockWith("a", &lock.MutexOptions{MinHold: 24*time.Hour + 1})},
		{"minimum of a fixed lease", "minHold", "at most its TTL, 1s", lockWith("a",
			&lock.MutexOptions{TTL: time.Second, Fixed: true, MinHold: time.Second + 1})},
		{"minimum of a fixed lease of the client's TTL", "minHold", "at most its TTL, 30s", lockWith("a",
			&lock.MutexOptions{Fixed: true, MinHold: time.Minute})},
		{"nil context", "ctx", "nil", func(_ context.Context, locks *lock.Client) error {
			return lockNamed("a")(nil, locks)
		}},
		{"TryLock, nil context", "ctx", "nil", func(_ context.Context, locks *lock.Client) error {
			_, err := locks.Mutex("a", nil).TryLock(nil) //nolint:staticcheck // that is the test
			return err
		}},
		{"Inspect, nil context", "ctx", "nil", func(_ context.Context, locks *lock.Client) error {
			_, err := locks.Inspect(nil, "a") //nolint:staticcheck // that is the test
			return err
		}},
		{"Close, nil context", "ctx", "nil", func(_ context.Context, locks *lock.Client) error {
			return locks.Stop(nil) //nolint:staticcheck // that is the test
		}},
		{"Inspect, bad name", "name", "empty", func(ctx context.Context, locks *lock.Client) error {
			_, err := locks.Inspect(ctx, "")
			return err
		}},
		{"ForceRelease, bad name", "name", "empty", func(ctx context.Context, locks *lock.Client) error {
			_, err := locks.ForceRelease(ctx, "")
			return err
		}},
		{"Locker, bad name", "name", "empty", func(_ context.Context, locks *lock.Client) error {
			_, err := locks.Locker(locks.Mutex("", nil))
			return err
		}},
		{"Locker, no lock", "lock", "nil", func(_ context.Context, locks *lock.Client) error {
			_, err := locks.Locker(nil)
			return err
		}},
		{"Do, no lock", "lock", "nil", func(ctx context.Context, _ *lock.Client) error {
			return lock.Do(ctx, nil, nothing, nil)
		}},
		{"Do, nil context", "ctx", "nil", func(_ context.Context, locks *lock.Client) error {
			return lock.Do(nil, locks.Mutex("a", nil), nothing, nil) //nolint:staticcheck // that is the test
		}},
		{"List, bad prefix", "prefix", "control character", func(ctx context.Context, locks *lock.Client) error {
			_, err := locks.List(ctx, "\n", 1)
			return err
		}},
		{"List, long prefix", "prefix", "513 bytes", func(ctx context.Context, locks *lock.Client) error {
			if _, err := locks.List(ctx, strings.Repeat("n", 512), 1); err != nil {
				return err
			}
			_, err := locks.List(ctx, strings.Repeat("n", 513), 1)
			return err
		}},
		{"List, no limit", "limit", "1", func(ctx context.Context, locks *lock.Client) error {
			_, err := locks.List(ctx, "", 0)
			return err
		}},
		{"Do, negative wait", "wait", "-1", doWith(&lock.DoOptions{Wait: -2})},
		{"Do, negative retries", "retries", "negative", doWith(&lock.DoOptions{Retries: -1})},
		{"Do, negative delay", "retryDelay", "1ms", doWith(&lock.DoOptions{RetryDelay: -1})},
		{"Do, delay without its unit", "retryDelay", "30ns", doWith(&lock.DoOptions{Retries: 1, RetryDelay: 30})},
		{"Do, wait without its unit", "wait", "30ns", doWith(&lock.DoOptions{Wait: 30})},
		{"wait without its unit", "wait", "30ns", lockWith("a", &lock.MutexOptions{Wait: 30})},
		{"minimum without its unit", "minHold", "30ns", lockWith("a", &lock.MutexOptions{MinHold: 30})},
		{"Do, retries and wait", "retries", "wait", doWith(&lock.DoOptions{Retries: 1, Wait: time.Second})},
		{"Do, no name", "name", "function literal", func(ctx context.Context, locks *lock.Client) error {
			return lock.Do(ctx, locks.Mutex("", nil), func(context.Context, *lock.Lease) error { return nil }, nil)
		}},
	}
}

func TestBadArgumentsAreRefusedBeforeAnyCall(t *testing.T) {
	for _, test := range badArguments() {
		t.Run(test.name, func(t *testing.T) {
			backend := newFaulty(nil)
			err := test.call(t.Context(), open(t, backend, nil))
			wantInvalid(t, err, test.field, test.limit)
			wantEqual(t, "calls of the backend", backend.calls(), 0)
		})
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	tests := []struct {
		name, field, limit string
		opts               lock.Options
	}{
		{"short TTL", "ttl", "10ms", lock.Options{TTL: 10*time.Millisecond - 1}},
		{"long TTL", "ttl", "24h", lock.Options{TTL: 24*time.Hour + 1}},
		{"negative TTL", "ttl", "10ms", lock.Options{TTL: -1}},
		{"long metadata", "meta", "4096", lock.Options{Meta: map[string]string{"a": strings.Repeat("x", 4096)}}},
		{"metadata not UTF-8", "meta", "UTF-8", lock.Options{Meta: map[string]string{"a": "\xff"}}},
		{"patience", "patience", "-1", lock.Options{Patience: -2}},
		{"patience without its unit", "patience", "30ns", lock.Options{Patience: 30}},
		{"time without its unit", "handOff.time", "10ns", lock.Options{HandOff: lock.HandOff{Time: 10}}},
		{"low count", "handOff.count", "-1 for off", lock.Options{HandOff: lock.HandOff{Count: -2}}},
		{"high count", "handOff.count", "65536", lock.Options{HandOff: lock.HandOff{Count: 65537}}},
		{"negative time", "handOff.time", "1ms", lock.Options{HandOff: lock.HandOff{Time: -1}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := lock.New(newFaulty(nil), &test.opts)
			wantInvalid(t, err, test.field, test.limit)
		})
	}
}

func TestANilBackendIsRefused(t *testing.T) {
	_, err := lock.New(nil, nil)
	wantInvalid(t, err, "backend", "nil")
}

func TestTheLimitsThemselvesAreAccepted(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, &lock.Options{TTL: lock.MaxTTL, Patience: -1, HandOff: lock.HandOff{Count: 1 << 16}})
		for _, name := range []string{
			" ", "n", strings.Repeat("n", lock.MaxName), "{tag}", "*?[]", "a/../b",
			"\u202eright", "\ufeff",
		} {
			mustUnlock(t, mustLock(t, locks.Mutex(name, nil)))
		}
		for _, ttl := range []time.Duration{lock.MinTTL, lock.MaxTTL} {
			mustUnlock(t, mustLock(t, locks.Mutex("a", &lock.MutexOptions{TTL: ttl})))
		}
	})
}

func TestAContextThatIsOverIsRefusedBeforeAnyCall(t *testing.T) {
	backend := newFaulty(nil)
	locks := open(t, backend, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTired)
	_, err := locks.Mutex("a", nil).Lock(ctx)
	wantErr(t, err, context.Canceled)
	wantErr(t, err, errTired)
	_, err = locks.Mutex("a", nil).TryLock(ctx)
	wantErr(t, err, context.Canceled)
	wantEqual(t, "calls of the backend", backend.calls(), 0)
}

func wantInvalid(t *testing.T, err error, field, limit string) {
	t.Helper()
	wantErr(t, err, lock.ErrInvalid)
	invalid, ok := err.(*lock.InvalidError) //nolint:errorlint // it is not wrapped
	if !ok {
		t.Fatalf("%v is no InvalidError", err)
	}
	wantEqual(t, "field", invalid.Field, field)
	wantText(t, err, field, limit)
}
