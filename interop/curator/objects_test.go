package curator_test

import (
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// object is a kind of lock that both sides have, with what each of them holds while the other waits.
type object struct {
	name    string // a row of the matrix
	slug    string // begins the names of its locks
	profile zklock.Profile
	goLock  func(locks *lock.Client, name string) lock.Lockable
	java    string // the peer's word for it
	// exclusive says that one has it, whichever side: then all stand in one line.
	exclusive bool
}

// objects are the kinds that Go has in ZooKeeper.
func objects() []object {
	readWrite := func(c *lock.Client, name string) *lock.RWMutex {
		return c.RWMutex(name, &lock.RWMutexOptions{Wait: peer.Patience})
	}
	writer := func(c *lock.Client, name string) lock.Lockable { return readWrite(c, name).Writer() }
	reader := func(c *lock.Client, name string) lock.Lockable { return readWrite(c, name).Reader() }
	mutex := func(c *lock.Client, name string) lock.Lockable {
		return c.Mutex(name, &lock.MutexOptions{Wait: peer.Patience})
	}
	permit := func(c *lock.Client, name string) lock.Lockable {
		return c.Semaphore(name, 1, &lock.SemaphoreOptions{Wait: peer.Patience})
	}
	const both = "InterProcessReadWriteLock"
	return []object{
		{name: "InterProcessMutex", slug: "mutex", goLock: mutex, java: "mutex", exclusive: true},
		{name: both + ", both write", slug: "write", goLock: writer, java: "write", exclusive: true},
		{name: both + ", Go reads, Java writes", slug: "reader", goLock: reader, java: "write"},
		{name: both + ", Go writes, Java reads", slug: "writer", goLock: writer, java: "read"},
		{name: "InterProcessSemaphoreV2, one permit", slug: "permit", goLock: permit, java: "permit"},
		{
			name: "LeaderLatch", slug: "latch", profile: zklock.CuratorLatch, goLock: mutex, java: "latch",
			exclusive: true,
		},
	}
}

// path is where Java finds a lock.
func path(name string) string { return root + "/" + name }

// aMoment is how long Java waits for what it is not to get: a LeaderLatch does not lead at once, even if it is alone.
const aMoment = 100 * time.Millisecond

// javaTries has Java try to have it within a time, and returns where the answer comes.
func (o *object) javaTries(e *together, name string, within time.Duration) (id string) {
	e.Helper()
	argument := strconv.FormatInt(within.Milliseconds(), 10)
	if o.java == "permit" {
		argument = "1," + argument
	}
	return e.java.Begin("a", o.java+".try", path(name), argument)
}

func (o *object) javaHas(e *together, name string) {
	e.Helper()
	if answer := e.java.Await(o.javaTries(e, name, peer.Patience)); answer != "true" {
		e.Fatalf("java has no %s: %q", name, answer)
	}
}

func (o *object) javaUnlocks(e *together, name string) {
	e.Helper()
	e.java.Want("true", "a", o.java+".unlock", path(name), 0)
}

// taken is a lock that Go has got.
type taken struct {
	lease *lock.Lease
	at    time.Time
}

// goWaits begins to wait for what Java has, and returns where it comes. Go watches a node then; of a semaphore it
// watches the leases, which a server does not list, but counts.
func (o *object) goWaits(e *together, name string) <-chan taken {
	e.Helper()
	got, before := make(chan taken, 1), e.watches()
	ours := o.goLock(e.locksOf(o), name)
	go func() { got <- taken{e.take(ours), time.Now()} }()
	if o.java != "permit" {
		e.untilWatched(name, byGo)
		return got
	}
	e.eventually("Go waits for "+name, func() bool {
		now := e.watches()
		before = min(before, now)
		return now > before
	})
	return got
}

// javaWaits begins to wait for what Go has. Of a semaphore Curator's waiter has a lease already.
func (o *object) javaWaits(e *together, name string) (id string) {
	e.Helper()
	id = o.javaTries(e, name, peer.Patience)
	if o.java != "permit" {
		e.untilWatched(name, byJava)
		return id
	}
	e.eventually("java waits for "+name, func() bool {
		info, err := e.locks.Inspect(e.Context(), name)
		return err == nil && len(info.Holders) == 2
	})
	return id
}

// exclude shows that each is refused what the other has.
func (o *object) exclude(e *together) {
	ours := o.goLock(e.locksOf(o), o.slug+"-excluded")
	for range rounds {
		lease := e.take(ours)
		if answer := e.java.Await(o.javaTries(e, o.slug+"-excluded", aMoment)); answer != "false" {
			e.Fatalf("java tries what Go has: %q", answer)
		}
		e.unlock(lease)
		o.javaHas(e, o.slug+"-excluded")
		e.refused(ours)
		o.javaUnlocks(e, o.slug+"-excluded")
	}
	e.seen.Show(e.at, o.name, matrix.Excluded, rounds)
}

// wakeGo shows that Go is woken by Java.
func (o *object) wakeGo(e *together) {
	var took []time.Duration
	for range rounds {
		o.javaHas(e, o.slug+"-woken")
		got := o.goWaits(e, o.slug+"-woken")
		start := time.Now()
		o.javaUnlocks(e, o.slug+"-woken")
		woken := <-got
		took = append(took, woken.at.Sub(start))
		e.unlock(woken.lease)
	}
	e.seen.Woke(e, e.at, o.name, matrix.GoWaits, took)
}

// wakeJava shows that Java is woken by Go.
func (o *object) wakeJava(e *together) {
	var took []time.Duration
	ours := o.goLock(e.locksOf(o), o.slug+"-wakes")
	for range rounds {
		lease := e.take(ours)
		waiting := o.javaWaits(e, o.slug+"-wakes")
		start := time.Now()
		e.unlock(lease)
		e.java.AnswersWithin(atOnce, waiting)
		took = append(took, time.Since(start))
		o.javaUnlocks(e, o.slug+"-wakes")
	}
	e.seen.Woke(e, e.at, o.name, matrix.JavaWaits, took)
}

// killGo shows that Java has what a process of Go had that was killed.
func (o *object) killGo(e *together) {
	dies := e.anotherGo(o)
	waiting := o.javaTries(e, o.slug, peer.Patience)
	if err := dies.Process.Kill(); err != nil {
		e.Fatal(err)
	}
	start := time.Now()
	_ = dies.Wait()
	if answer := e.java.Await(waiting); answer != "true" {
		e.Fatalf("java has not what the dead one had: %q", answer)
	}
	e.seen.TookOver(e, e.at, o.name, matrix.GoDies, time.Since(start), peer.Patience)
	o.javaUnlocks(e, o.slug)
}

// killJava shows that Go has what a Java had that was killed.
func (o *object) killJava(e *together) {
	e.java = e.anotherJava()
	o.javaHas(e, o.slug+"-orphan")
	got := o.goWaits(e, o.slug+"-orphan")
	e.java.Kill()
	start := time.Now()
	orphan := <-got
	e.seen.TookOver(e, e.at, o.name, matrix.JavaDies, orphan.at.Sub(start), peer.Patience)
	e.unlock(orphan.lease)
}

// lineIsOne: who has come first is served first, on whichever side.
func (o *object) lineIsOne(e *together) {
	name := o.slug + "-line"
	mine, others := o.goLock(e.locksOf(o), name), o.goLock(e.client(o.profile), name)
	for range rounds {
		lease := e.take(mine)
		first := o.javaWaits(e, name)
		got := make(chan *lock.Lease, 1)
		go func() { got <- e.take(others) }()
		e.untilContended(name, 3)
		e.unlock(lease)
		if answer := e.java.Await(first); answer != "true" {
			e.Fatalf("java, which came first, got %q", answer)
		}
		select {
		case <-got:
			e.Fatal("both have it")
		default:
		}
		o.javaUnlocks(e, name)
		e.unlock(<-got)
	}
	e.seen.Show(e.at, o.name, matrix.InOrder, rounds)
}

// tokensRise: those of Go, with locks of Java in between.
func (o *object) tokensRise(e *together) {
	name, last := o.slug+"-tokens", uint64(0)
	ours := o.goLock(e.locksOf(o), name)
	for range rounds {
		lease := e.take(ours)
		if lease.Token() <= last {
			e.Fatalf("token %d after %d", lease.Token(), last)
		}
		last = lease.Token()
		e.unlock(lease)
		o.javaHas(e, name)
		o.javaUnlocks(e, name)
	}
	e.seen.Show(e.at, o.name, matrix.TokensRise, rounds)
}
