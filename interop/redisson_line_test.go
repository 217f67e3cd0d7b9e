package interop

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
)

// fairLine is the line of a fair lock, in which threads of Java and goroutines stand.
type fairLine struct {
	*together
	name   string
	served chan *contender // those whose wait is over
	last   uint64          // the newest token of Go's
}

// contender is somebody who wants the lock.
type contender struct {
	who    string
	give   func(*contender) // gives it back
	gone   bool             // has died, or is known to have given up
	answer string           // "true" if it has the lock
	lease  *lock.Lease      // of Go's
}

const (
	// passedOver is the time within which it is noticed that who is next has died: Go asks every two seconds, and then
	// gives who is told five.
	passedOver = 10 * time.Second
)

func (e *together) fairLine(name string) *fairLine {
	return &fairLine{together: e, name: name, served: make(chan *contender, 32)}
}

// fair returns Go's side of the lock.
func (f *fairLine) fair(locks *lock.Client) *lock.Mutex {
	return locks.Mutex(f.name, &lock.MutexOptions{Fair: true})
}

// order returns who stands in line.
func (f *fairLine) order() []string {
	f.Helper()
	order, err := f.rdb.LRange(f.Context(), "redisson_lock_queue:{"+f.name+"}", 0, -1).Result()
	if err != nil {
		f.Fatal(err)
	}
	return order
}

// javaComes has a thread of Java want the lock; wait bounds that, if it is not 0.
func (f *fairLine) javaComes(j *peer.Java, thread string, wait time.Duration) *contender {
	f.Helper()
	command := "fair.lock"
	if wait > 0 {
		command = "fair.wait"
	}
	id := j.Begin(thread, command, f.name, wait.Milliseconds())
	answers := j.AnswerTo(id)
	c := &contender{who: "Java's " + thread, give: func(*contender) {
		f.Helper()
		j.Want("true", thread, "fair.unlock", f.name, 0)
	}}
	go func() {
		select {
		case c.answer = <-answers:
			f.served <- c
		case <-f.Context().Done():
		}
	}()
	return c
}

// goComes has a goroutine want the lock for as long as ctx lasts.
func (f *fairLine) goComes(ctx context.Context, locks *lock.Client, who string) *contender {
	c := &contender{who: "Go's " + who, give: func(c *contender) {
		f.Helper()
		f.unlock(c.lease)
	}}
	go func() {
		var err error
		if c.lease, err = f.fair(locks).Lock(ctx); err != nil {
			c.answer = err.Error()
		} else {
			c.answer = "true"
		}
		f.served <- c
	}()
	return c
}

// queues returns somebody who comes once that one stands in line, behind those who stood there.
func (f *fairLine) queues(come func() *contender) *contender {
	f.Helper()
	before := f.order()
	c := come()
	f.until(c.who+" stands in line", func() bool {
		if len(f.served) > 0 {
			if got := <-f.served; !got.gone {
				f.Fatalf("%s: %s, before %s stood in line", got.who, got.answer, c.who)
			}
		}
		order := f.order()
		return len(order) == len(before)+1 && slices.Equal(order[:len(before)], before)
	})
	return c
}

func (f *fairLine) javaQueues(j *peer.Java, thread string) *contender {
	f.Helper()
	return f.queues(func() *contender { return f.javaComes(j, thread, 0) })
}

func (f *fairLine) goQueues(locks *lock.Client, who string) *contender {
	f.Helper()
	return f.queues(func() *contender { return f.goComes(f.Context(), locks, who) })
}

// javaHas has a thread of Java take the lock that is free.
func (f *fairLine) javaHas(j *peer.Java, thread string) *contender {
	f.Helper()
	c := f.javaComes(j, thread, 0)
	f.serves(c, peer.Patience)
	return c
}

func (f *fairLine) goHas(locks *lock.Client, who string) *contender {
	f.Helper()
	c := f.goComes(f.Context(), locks, who)
	f.serves(c, peer.Patience)
	return c
}

// serves checks that the next one to have the lock is c, within a time, and returns how long it took. The tokens of
// Go's rise.
func (f *fairLine) serves(c *contender, within time.Duration) time.Duration {
	f.Helper()
	start := time.Now()
	if got := f.nextOver(c, within); got != c || c.answer != "true" {
		f.Fatalf("%s: %s, when it was the turn of %s", got.who, got.answer, c.who)
	}
	if c.lease != nil {
		if c.lease.Token() <= f.last {
			f.Errorf("%s has token %d after %d", c.who, c.lease.Token(), f.last)
		}
		f.last = c.lease.Token()
	}
	return time.Since(start)
}

// nextOver returns whose wait is over next, when it should be c's.
func (f *fairLine) nextOver(c *contender, within time.Duration) *contender {
	f.Helper()
	timeout := time.After(within)
	for {
		select {
		case got := <-f.served:
			if !got.gone || got == c {
				return got
			}
		case <-timeout:
			f.Fatalf("%s has not been served within %s; in line: %q", c.who, within, f.order())
		}
	}
}

// passesTo has one give the lock back, and checks that another one has it by that.
func (f *fairLine) passesTo(from, to *contender, within time.Duration) time.Duration {
	f.Helper()
	if len(f.served) > 0 {
		f.Errorf("%s had the lock, and so had another", from.who)
	}
	start := time.Now()
	from.give(from)
	f.serves(to, within)
	return time.Since(start)
}

// servesAll checks that the lock passes from who has it to each of those in line, in order, and that nothing is left
// of the line then.
func (f *fairLine) servesAll(holder *contender, line ...*contender) {
	f.Helper()
	for _, c := range line {
		f.passesTo(holder, c, atOnce)
		holder = c
	}
	holder.give(holder)
	f.isGone()
}

// isGone checks that nothing is left of the lock and of its line, but what ends soon: who was told last.
func (f *fairLine) isGone() {
	f.Helper()
	name := "{" + f.name + "}"
	for _, key := range []string{f.name, "redisson_lock_queue:" + name, "redisson_lock_timeout:" + name} {
		if n, err := f.rdb.Exists(f.Context(), key).Result(); n != 0 || err != nil {
			f.Errorf("%s is left (%v)", key, err)
		}
	}
	if left := f.rdb.PTTL(f.Context(), "bedrock_line:"+name).Val(); left == -1 || left > 10*time.Second {
		f.Errorf("what ours have said is kept for %s", left)
	}
}

// inLine checks how many stand in line, and that each has a time.
func (f *fairLine) inLine(n int) {
	f.Helper()
	timed, err := f.rdb.ZCard(f.Context(), "redisson_lock_timeout:{"+f.name+"}").Result()
	if order := f.order(); len(order) != n || int(timed) != n || err != nil {
		f.Errorf("want %d in line, got %q and %d with a time (%v)", n, order, timed, err)
	}
}

// until waits until something is so.
func (f *fairLine) until(what string, is func() bool) {
	f.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(peer.Patience); !is(); <-tick.C {
		if time.Now().After(deadline) {
			f.Fatalf("not within %s: %s; in line: %q", peer.Patience, what, f.order())
		}
	}
}

// process returns a client of Bedrock with connections of its own, and what kills it on one server: it can say nothing
// any more.
func (e *together) process() (locks *lock.Client, kill func()) {
	e.Helper()
	if e.isCluster() {
		return e.client(e.connect(e.T)), nil // its nodes tell clients where they are: no proxy stands between
	}
	proxy, err := chaos.New(e.nodes[0].Addr())
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = proxy.Close() })
	rdb := redis.NewClient(&redis.Options{Addr: proxy.Addr(), MaxRetries: -1})
	e.Cleanup(func() { _ = rdb.Close() })
	return e.client(rdb), proxy.Cut
}

// javaIsWarmInLine has Java wait for a fair lock once: it has loaded what it needs for that from here on.
func (e *together) javaIsWarmInLine() {
	e.Helper()
	e.java.Want("true", "a", "fair.try", "warm", 0)
	for i := range 3 {
		before := e.scripts()
		id := e.java.Begin(strconv.Itoa(i), "fair.lock", "warm", 0)
		e.asleep(before)
		thread := "a"
		if i > 0 {
			thread = strconv.Itoa(i - 1)
		}
		e.java.Want("true", thread, "fair.unlock", "warm", 0)
		if answer := e.java.Await(id); answer != "true" {
			e.Fatalf("java: %q", answer)
		}
	}
	e.java.Want("true", "2", "fair.unlock", "warm", 0)
}
