package main

import (
	"context"
	"errors"
	"testing"
	"time"

	bsm "github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// TestRedlockProfileSharesItsLocks: with profile redlock, Bedrock, redsync and
// bsm/redislock exclude one another under one name.
func TestRedlockProfileSharesItsLocks(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: testenv.Redis(t, nil).Addr()})
	defer rdb.Close()
	locks, err := redislock.New(goredis.Wrap(rdb), &redislock.Options{Profile: redislock.Redlock})
	if err != nil {
		t.Fatal(err)
	}
	defer locks.Stop(t.Context())
	lockers := map[string]func(context.Context) (unlock func(context.Context) error, err error){
		"bedrock": func(ctx context.Context) (func(context.Context) error, error) {
			lease, err := locks.Mutex("orders/42", nil).TryLock(ctx)
			if err != nil {
				return nil, err
			}
			return lease.Unlock, nil
		},
		"redsync": func(ctx context.Context) (func(context.Context) error, error) {
			m := redsync.New(redsyncgoredis.NewPool(rdb)).NewMutex("orders/42", redsync.WithExpiry(time.Minute))
			return func(ctx context.Context) error {
				if ok, err := m.UnlockContext(ctx); !ok {
					return errors.Join(err, errors.New("not unlocked"))
				}
				return nil
			}, m.TryLockContext(ctx)
		},
		"bsm/redislock": func(ctx context.Context) (func(context.Context) error, error) {
			l, err := bsm.Obtain(ctx, rdb, "orders/42", time.Minute, nil)
			if err != nil {
				return nil, err
			}
			return l.Release, nil
		},
	}
	for holder, take := range lockers {
		unlock, err := take(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", holder, err)
		}
		for other, try := range lockers {
			if _, err := try(t.Context()); err == nil {
				t.Errorf("%s got what %s holds", other, holder)
			} else if other == "bedrock" && !errors.Is(err, lock.ErrHeld) {
				t.Errorf("%s while %s holds it: %v", other, holder, err)
			}
		}
		if err := unlock(t.Context()); err != nil {
			t.Errorf("%s could not unlock: %v", holder, err)
		}
	}
}
