package redislock_test

import (
	"testing"

	goredisclient "github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestJavaAboutToSleepMissesAWriter: by 1 Redisson wakes those who sleep already. Who has asked and does not sleep
// yet would wait until the lease it was told of is over, were it not for a 0 behind that. Bedrock hears one release.
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
		w, err := b.(driver.Waiter).Watch(ctxFor(t), "a", driver.ReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()

		req := request("a", uuidA+":1")
		req.Mode = driver.Write
		before := w.Count()
		mustRelease(t, b, mustAcquire(t, b, req))
		for _, want := range []string{"1", "00"} {
			m, err := java.ReceiveMessage(ctxFor(t))
			if err != nil || m.Payload != want {
				t.Fatalf("java hears %v, %v; want %q", m, err, want)
			}
		}
		req.Owner, req.Mode = uuidA+":2", driver.Shared
		mustRelease(t, b, mustAcquire(t, b, req)) // says 0, behind all that
		until(t, "the reader's release", func() bool { return w.Count() >= before+2 })
		if heard := w.Count() - before; heard != 2 {
			t.Errorf("two releases were heard of %d times", heard)
		}
	})
}
