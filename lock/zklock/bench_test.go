package zklock_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// BenchmarkPair takes a lock that is free, and gives it back.
func BenchmarkPair(b *testing.B) {
	locks := connect(b, nil, testenv.StartZooKeeper(b, nil)[0].Addr())
	takeAndRelease(b, locks, "a")
	for b.Loop() {
		takeAndRelease(b, locks, "a")
	}
}

// BenchmarkPairOfKinds takes locks of the other kinds, that are free.
func BenchmarkPairOfKinds(b *testing.B) {
	locks := connect(b, nil, testenv.StartZooKeeper(b, nil)[0].Addr())
	for name, l := range map[string]lock.Lockable{
		"write": locks.RWMutex("rw", nil).Writer(), "read": locks.RWMutex("rw", nil).Reader(),
		"permit": locks.Semaphore("s", 4, nil), "permits": locks.Semaphore("s", 4, nil).Permits(4),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				lease, err := l.Lock(b.Context())
				if err == nil {
					err = lease.Unlock(b.Context())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRawPair makes the three requests of Curator's recipe.
func BenchmarkRawPair(b *testing.B) {
	conn := raw(b, testenv.StartZooKeeper(b, nil)[0])
	if _, err := conn.Create("/a", nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		path, err := conn.Create("/a/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		if err == nil {
			_, _, err = conn.Children("/a")
		}
		if err == nil {
			err = conn.Delete(path, -1)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHandOver has two processes pass a lock to and fro: the time from an unlock to the other one's lock.
func BenchmarkHandOver(b *testing.B) {
	addr := testenv.StartZooKeeper(b, nil)[0].Addr()
	one, two := connect(b, nil, addr), connect(b, nil, addr)
	held, err := one.Mutex("a", nil).Lock(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		got := make(chan time.Time, 1)
		next := two
		if b.N%2 == 1 {
			next = one
		}
		lease := held
		go func() {
			l, err := next.Mutex("a", nil).Lock(b.Context())
			got <- time.Now()
			if err == nil {
				held = l
			}
		}()
		eventually(b, "it waits", func() bool {
			info, err := two.Inspect(b.Context(), "a")
			return err == nil && info.Waiting == 1
		})
		b.StartTimer()
		if err := lease.Unlock(b.Context()); err != nil {
			b.Fatal(err)
		}
		<-got
		one, two = two, one
	}
	if err := held.Unlock(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRefusal tries what somebody else has, at one server and at three.
func BenchmarkRefusal(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			servers := testenv.StartZooKeeper(b, &testenv.ZooKeeperOptions{Servers: n})
			holder, other := open(b, nil, servers[0].Addr()), open(b, nil, servers[n-1].Addr())
			mustAcquire(b, holder, request("a", "holder:1"))
			req := request("a", "other:1")
			for b.Loop() {
				if _, err := other.Acquire(b.Context(), req); !errors.Is(err, driver.ErrHeld) {
					b.Fatal(err)
				}
			}
		})
	}
}
