package interop

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// together is Bedrock and Redisson on the same servers.
type together struct {
	*testing.T
	*site
	program *peer.Program
	rdb     redis.UniversalClient
	locks   *lock.Client
	java    *peer.Java
	seen    *matrix.Matrix
}

// watchdog is for how long Redisson's locks live unless renewed; Bedrock's live
// for 30 s, so that a wake-up cannot be mistaken for an expiry.
const watchdog = 3 * time.Second

// The oldest and the newest version of Redisson that Bedrock declares to share its locks with.
const (
	oldest = "3.24.3"
	newest = "4.7.0"
)

// scenes are what is played, by their names.
type scenes = map[string]func(*together)

// TestRedisson plays all scenes with the real Redisson, and compares what was seen with what
// docs/interop-redisson.md says.
func TestRedisson(t *testing.T) {
	w := openWorkshop(t, oldest, newest)
	seen := &matrix.Matrix{
		Library: "Redisson", File: "../docs/interop-redisson.md", Preface: preface, AtOnce: atOnce,
		Scenes: 2*len(allScenes()) + len(clusters())*len(clusterScenes()),
	}
	t.Cleanup(func() { seen.Compare(t) })              // when all scenes are over, which are played side by side
	for _, version := range []string{oldest, newest} { // those that count tries in vain need the processors
		t.Run("alone-"+version, func(t *testing.T) {
			for name, play := range countingScenes() {
				t.Run(name, func(t *testing.T) { w.playAlone(t, name, version, play, seen) })
			}
		})
	}
	for _, version := range []string{oldest, newest} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			for name, play := range allScenes() {
				if countingScenes()[name] != nil {
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					w.playAlone(t, name, version, play, seen)
				})
			}
		})
	}
	for name, c := range clusters() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playInCluster(t, w.program(t, c.version), c, seen)
		})
	}
}

// playAlone plays a scene on a server of its own.
func (w *workshop) playAlone(t *testing.T, name, version string, play func(*together), seen *matrix.Matrix) {
	t.Helper()
	at := alone(t)
	at.version = version
	play(bringTogether(t, w.program(t, version), at, seen))
	seen.Played(name, at.place())
}

// countingScenes are those that bound how often somebody looks in vain, and for how long.
func countingScenes() scenes {
	return scenes{"JavaIsPassedOver": javaIsPassedOver, "BothKindsWait": bothKindsWait}
}

// allScenes are those on one server.
func allScenes() scenes {
	all := make(scenes)
	for _, some := range []scenes{
		ofMutex(), ofReadWrite(), ofSemaphore(), ofPlainSemaphore(), ofFair(), ofLatch(), ofMultiLock(), ofEveryKind(),
	} {
		for name, play := range some {
			if all[name] != nil {
				panic("two scenes are called " + name)
			}
			all[name] = play
		}
	}
	return all
}

func ofMutex() scenes {
	return scenes{
		"TokensRise":        tokensRise,
		"ForceReleaseTells": forceReleaseTells,
		"NobodyIsLost":      nobodyIsLost,
		"JavaIsPassedOver":  javaIsPassedOver,
		"BothKindsWait":     bothKindsWait,
		"NamesAreTheSame":   namesAreTheSame,
	}
}

// atOnce is the time within which one has the lock who is woken: less than any lease has left, and than it takes Go to
// ask again by itself.
const atOnce = watchdog / 2

// wakeUps is how often somebody is woken in a scene, and how often everything else is done.
const wakeUps = 20

// woke adds wake-ups to the matrix, and fails the scene if one took too long.
func (e *together) woke(object, who string, took []time.Duration) {
	e.Helper()
	e.seen.Woke(e, e.place(), object, who, took)
}

// shows adds what the scene has shown, so many times.
func (e *together) shows(object, what string, rounds int) {
	e.seen.Show(e.place(), object, what, rounds)
}

func bringTogether(t *testing.T, program *peer.Program, at *site, seen *matrix.Matrix) *together {
	t.Helper()
	rdb := at.connect(t)
	e := &together{t, at, program, rdb, nil, nil, seen}
	e.locks, e.java = e.client(rdb), e.anotherJava()
	return e
}

// client returns one of Bedrock. Java's fenced locks use the names too.
func (e *together) client(rdb redis.UniversalClient) *lock.Client {
	e.Helper()
	locks, err := redislock.New(goredis.Wrap(rdb), e.options())
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // its process may be dead
		defer cancel()
		_ = locks.Stop(ctx)
	})
	return locks
}

func (e *together) anotherJava() *peer.Java {
	e.Helper()
	return startJava(e.T, e.program, e.site)
}

// lock takes the lock for Go within d.
func (e *together) lock(name string, d time.Duration) *lock.Lease {
	e.Helper()
	lease, err := e.locks.Mutex(name, &lock.MutexOptions{Wait: d}).Lock(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return lease
}

func (e *together) unlock(lease *lock.Lease) {
	e.Helper()
	if err := lease.Unlock(e.Context()); err != nil {
		e.Error(err)
	}
}

// asleep waits until a contender that began after the server had run so many
// scripts has been refused, has subscribed, and has been refused once more:
// nothing but a message wakes it now before the lock expires.
func (e *together) asleep(before int) {
	e.Helper()
	for deadline := time.Now().Add(peer.Patience); e.scripts() < before+2; {
		if time.Now().After(deadline) {
			e.Fatal("the contender has not asked twice")
		}
	}
}

// listens waits until one of Go's that began after the servers had run so many scripts has been refused, and listens:
// it asks once more if it has just begun to, and then nothing but a message wakes it.
func (e *together) listens(before int, channel string) {
	e.Helper()
	for deadline := time.Now().Add(peer.Patience); e.scripts() <= before || e.listening(channel) == 0; {
		if time.Now().After(deadline) {
			e.Fatalf("nobody listens on %s", channel)
		}
	}
}

// tokensRise: Java's fenced lock and Bedrock count with one counter.
func tokensRise(e *together) {
	last := uint64(0)
	defer e.shows("RFencedLock", matrix.TokensRise, wakeUps)
	for range wakeUps {
		lease := e.lock("a", time.Second)
		if lease.Token() <= last {
			e.Errorf("go's token %d after %d", lease.Token(), last)
		}
		last = lease.Token()
		e.unlock(lease)
		answer := e.java.Do("a", "fenced", "a", 0)
		token, err := strconv.ParseUint(answer, 10, 64)
		if err != nil || token <= last {
			e.Errorf("java's token %s after %d (%v)", answer, last, err)
		}
		last = token
		e.java.Want("true", "a", "unlock", "a", 0)
	}
}

func forceReleaseTells(e *together) {
	e.java.Want("true", "a", "try", "a", 0)
	if held, err := e.locks.ForceRelease(e.Context(), "a"); !held || err != nil {
		e.Errorf("force: %v, %v", held, err)
	}
	if answer := e.java.Do("a", "unlock", "a", 0); answer == "true" {
		e.Error("java released what it had not any more")
	}
}

// nobodyIsLost: threads and goroutines count together; a lock held by two would
// lose counts.
func nobodyIsLost(e *together) {
	const each, times = 4, 50
	if err := e.rdb.Set(e.Context(), "counter", 0, 0).Err(); err != nil {
		e.Fatal(err)
	}
	var ids []string
	for i := range each {
		ids = append(ids, e.java.Begin(fmt.Sprint("t", i), "count", "a", times))
	}
	var group sync.WaitGroup
	for range each {
		group.Go(func() { e.count(times) })
	}
	group.Wait()
	for _, id := range ids {
		if answer := e.java.Await(id); answer != strconv.Itoa(times) {
			e.Errorf("java counted %q", answer)
		}
	}
	if n, err := e.rdb.Get(e.Context(), "counter").Int(); n != 2*each*times || err != nil {
		e.Errorf("counted %d of %d (%v)", n, 2*each*times, err)
	}
}

// count does what the peer's command of that name does.
func (e *together) count(times int) {
	for range times {
		err := lock.Do(e.Context(), e.locks.Mutex("a", nil), func(ctx context.Context, _ *lock.Lease) error {
			n, err := e.rdb.Get(ctx, "counter").Int()
			if err != nil {
				return err
			}
			return e.rdb.Set(ctx, "counter", n+1, 0).Err()
		}, nil)
		if err != nil {
			e.Error(err)
			return
		}
	}
}
