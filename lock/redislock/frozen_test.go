package redislock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// lenient are connections of clients that wait for an answer for longer than any test does.
func lenient() map[string]func(t *testing.T, addr string) redisconn.Conn {
	return map[string]func(t *testing.T, addr string) redisconn.Conn{
		"goredis": func(t *testing.T, addr string) redisconn.Conn {
			t.Helper()
			client := goredisclient.NewClient(&goredisclient.Options{Addr: addr, ReadTimeout: time.Hour})
			t.Cleanup(func() { _ = client.Close() })
			return goredis.Wrap(client)
		},
		"rueidis": func(t *testing.T, addr string) redisconn.Conn {
			t.Helper()
			client, err := rueidisclient.NewClient(rueidisclient.ClientOption{
				InitAddress: []string{addr}, ForceSingleClient: true, ConnWriteTimeout: time.Hour,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			return rueidis.Wrap(client)
		},
	}
}

// TestFrozenServerOutlastsPatience: neither the caller nor the client of Redis would ever give
// the request up. What the server makes of it when it goes on is given back.
func TestFrozenServerOutlastsPatience(t *testing.T) {
	for name, connect := range lenient() {
		for profile, called := range map[redislock.Profile]string{
			redislock.Redisson: "redisson", redislock.Redlock: "redlock",
		} {
			t.Run(name+", "+called, func(t *testing.T) {
				t.Parallel()
				server := testenv.Redis(t, nil)
				conn := connect(t, server.Addr())
				locks, other := patient(t, conn, profile, time.Second), patient(t, conn, profile, 0)
				takeAndRelease(t, other, "warm")
				server.Freeze()
				for what, call := range map[string]func(ctx context.Context) (*lock.Lease, error){
					"Lock": locks.Mutex("a", nil).Lock, "TryLock": locks.Mutex("b", nil).TryLock,
				} {
					if _, err := call(ctxFor(t)); !errors.Is(err, driver.ErrUnavailable) {
						t.Errorf("%s of a frozen server: %v", what, err)
					}
				}
				server.Thaw()
				takeAndRelease(t, other, "a")
				takeAndRelease(t, other, "b")
			})
		}
	}
}

// patient makes a client of that patience.
func patient(
	t *testing.T, conn redisconn.Conn, profile redislock.Profile, patience time.Duration,
) *lock.Client {
	t.Helper()
	locks, err := redislock.New(conn, &redislock.Options{
		Profile: profile, Lock: lock.Options{Patience: patience},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Stop(ctxFor(t)) })
	return locks
}
