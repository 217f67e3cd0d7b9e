package redislock_test

import (
	"fmt"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestJavaAboutToSleepMissesAWriter: by 1 Redisson wakes those who sleep already. Who has asked and does not sleep
// yet would wait until the lease it was told of is over, were it not for a 0 behind that.
func TestJavaAboutToSleepMissesAWriter(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		client := goredisclient.NewClient(&goredisclient.Options{Addr: s.Addr()})
		java := client.Subscribe(ctxFor(t), "redisson_rwlock:{a}")
		t.Cleanup(func() { _, _ = java.Close(), client.Close() })
		if _, err := java.Receive(ctxFor(t)); err != nil {
			t.Fatal(err)
		}
		b := open(t, connect(t, single(s)), nil)
		req := request("a", uuidA+":1")
		req.Mode = driver.Write
		mustRelease(t, b, mustAcquire(t, b, req))
		for _, want := range []string{"1", "00"} {
			m, err := java.ReceiveMessage(ctxFor(t))
			if err != nil || m.Payload != want {
				t.Fatalf("java hears %v, %v; want %q", m, err, want)
			}
		}
	})
}

// TestDeadReadersAreRemembered for as long as others read, and no writer comes to look at them.
func TestDeadReadersAreRemembered(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), nil)
		req := request("a", uuidA+":1000")
		req.Mode = driver.Shared
		living := mustAcquire(t, b, req)
		for i := range 100 { // their process is killed
			req.Owner, req.TTL = fmt.Sprint(uuidB, ":", i), 10*time.Millisecond
			mustAcquire(t, b, req)
		}
		until(t, "the dead to be forgotten", func() bool {
			if err := b.Renew(ctxFor(t), []driver.Grant{living})[0]; err != nil {
				t.Fatal(err)
			}
			return s.Do("HLEN", "a") == int64(2) && s.Do("HLEN", "bedrock_holders:{a}") == int64(1)
		})
		mustRelease(t, b, living)
	})
}

// TestSomebodysHashIsTakenForAReadWriteLock: it has a mode as well, and one is about to end.
func TestSomebodysHashIsTakenForAReadWriteLock(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	for _, mode := range []string{"read", "write"} {
		for _, ends := range []bool{false, true} {
			name := fmt.Sprint("file/", mode, ends)
			s.Do("HSET", name, "mode", mode, "path", "/tmp/x")
			if ends {
				s.Do("PEXPIRE", name, "60000")
			}
			for _, wanted := range []driver.Mode{driver.Write, driver.Shared} {
				req := request(name, uuidA+":1")
				req.Mode = wanted
				g, err := b.Acquire(ctxFor(t), req)
				if err == nil {
					mustRelease(t, b, g)
				}
				if err == nil && (!ends || wanted == driver.Write) {
					t.Errorf("%s: it was had in mode %s", name, wanted)
				}
				if got := s.Do("HGET", name, "path"); got != "/tmp/x" {
					t.Errorf("%s: after mode %s, %v, its data is %v", name, wanted, err, got)
				}
			}
		}
	}
	found, err := b.(driver.Inspector).List(ctxFor(t), "file/", 10)
	if err != nil || len(found) > 0 {
		t.Errorf("locks are said to be %+v, %v", found, err)
	}
}
