package redislock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

func TestZZ(t *testing.T) {
	server := testenv.Redis(t, nil)
	var clients []*lock.Client
	for range 4 {
		c, err := redislock.New(connectGoredis(t, single(server)), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Stop(ctxFor(t))
		clients = append(clients, c)
	}
	for _, opts := range []*lock.MutexOptions{{Fair: true}, {Fair: true, Fixed: true}, nil} {
		var group sync.WaitGroup
		n, last := 0, uint64(0)
		start := time.Now()
		per := make([]int, 4)
		for i, c := range clients {
			for range 16 {
				group.Go(func() {
					for time.Since(start) < 2*time.Second {
						lease, err := c.Mutex("a", opts).Lock(ctxFor(t))
						if err != nil {
							t.Error(err)
							return
						}
						n++
						per[i]++
						if lease.Token() <= last {
							t.Error("token")
						}
						last = lease.Token()
						if err := lease.Unlock(ctxFor(t)); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		group.Wait()
		t.Log(opts, n, per, time.Since(start))
		t.Log(server.Do("KEYS", "*"))
	}
}
