package interop

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// How long a thread of Java may wait for a lock that processes of Bedrock pass on among each other.
//
// One that waits by messages (Redisson's plain lock) is known from the moment at which it listens, and then the lock is
// offered to it, and again if it did not come in time: a JVM that gets no processor may miss an offer, but not more
// than mostMissed in a row. The lock is passed on at most mostHandOvers times until it is free again: by an offer, or
// because nobody stood in line at that moment. Then it is counted anew. So a thread has waited too long if Bedrock has
// had the lock more often than that for each time it was free, and longestTurn has passed for each. What is offered
// goes to whichever thread of Java is quickest.
//
// One that looks now and then (Redisson's spin lock) can be given the lock only at the moments at which it looks, and
// the pauses between them, up to 128 ms, are its own doing: so its turns are its looks, of which mostHandOvers may
// find the lock with somebody else.
const (
	mostHandOvers = 32
	mostMissed    = 3
	longestTurn   = 200 * time.Millisecond
)

// processes is how many of Bedrock are in a fleet.
const processes = 3

// fleet are processes of Bedrock that have one lock time and again.
type fleet struct {
	*together
	name    string
	entered atomic.Int64
	strange atomic.Int64 // how often Java had it
	offers  atomic.Int64 // how often it was released for those who listen and stand in no line
	free    atomic.Int64 // how often it was released to nobody, those among them
}

// tap is a connection that counts the releases it hears of.
type tap struct {
	redisconn.Conn
	fleet *fleet
}

func (t *tap) Listen(ctx context.Context, node string, sink redisconn.Sink) (redisconn.Listener, error) {
	return t.Conn.Listen(ctx, node, &tapped{sink, t.fleet})
}

type tapped struct {
	redisconn.Sink
	fleet *fleet
}

func (t *tapped) Message(channel, text string) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n >= 0 { // else it is passed on, or an offer follows
		t.fleet.free.Add(1)
	}
	if n == 1 {
		t.fleet.offers.Add(1)
	}
	t.Sink.Message(channel, text)
}

// startFleet returns a fleet that passes its lock on.
func (e *together) startFleet(name string) (f *fleet, stop func()) {
	e.Helper()
	f = &fleet{together: e, name: name}
	ctx, cancel := context.WithCancel(e.Context())
	var group sync.WaitGroup
	for i := range processes {
		rdb := redis.NewClient(&redis.Options{Addr: e.addresses("")})
		conn := goredis.Wrap(rdb)
		if i == 0 {
			conn = &tap{conn, f}
		}
		locks, err := redislock.New(conn, nil)
		if err != nil {
			e.Fatal(err)
		}
		group.Go(func() {
			f.enter(ctx, locks)
			_ = locks.Stop(context.Background())
			_ = rdb.Close()
		})
	}
	f.goOn(200)
	return f, func() {
		cancel()
		group.Wait()
	}
}

// enter has the lock time and again, for a millisecond.
func (f *fleet) enter(ctx context.Context, locks *lock.Client) {
	for ctx.Err() == nil {
		lease, err := locks.Mutex(f.name, nil).Lock(ctx)
		if err != nil {
			if ctx.Err() == nil {
				f.Error(err)
			}
			return
		}
		f.entered.Add(1)
		<-time.After(time.Millisecond)
		if err := lease.Unlock(context.WithoutCancel(ctx)); err != nil {
			f.Error(err)
		}
	}
}

// goOn waits until the fleet has had the lock so many times more.
func (f *fleet) goOn(times int64) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for until := f.entered.Load() + times; f.entered.Load() < until && f.Context().Err() == nil; {
		<-tick.C
	}
}

// listens has a thread of Java wait for the lock by messages.
func (f *fleet) listens(thread string) {
	f.Helper()
	before := f.listening(f.channel())
	id := f.java.Begin(thread, "lock", f.name, 0)
	f.untilMoreListen(before, id)
	start := time.Now()
	handOvers, offers, free, others := f.entered.Load(), f.offers.Load(), f.free.Load(), f.strange.Load()
	answer := f.java.Await(id)
	waited := time.Since(start)
	handOvers, others = f.entered.Load()-handOvers, f.strange.Load()-others
	turns := f.free.Load() - free
	f.givesBack(thread, "unlock")
	offers = f.offers.Load() - offers
	turns = max(1, turns, f.free.Load()-free-1) // what is heard late, but for what the thread itself has released
	f.Logf("who listens: %s, after %s, %d hand-overs, %d turns, %d offers", answer, waited, handOvers, turns, offers)
	if answer != "true" || offers-others-1 > mostMissed ||
		waited > longestTurn*time.Duration(turns) && handOvers > (mostHandOvers+1)*turns {
		f.Errorf("%q: who listens waited for %s, %d hand-overs, %d turns, %d offers and %d threads of Java",
			answer, waited, handOvers, turns, offers, others)
	}
}

// channel is where the lock's releases are told.
func (f *fleet) channel() string { return "redisson_lock__channel:{" + f.name + "}" }

// untilMoreListen waits until more listen for the lock, or a command is answered.
func (f *fleet) untilMoreListen(before int64, id string) {
	f.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for f.listening(f.channel()) <= before && !f.java.Answered(id) {
		<-tick.C
	}
}

// givesBack has a thread of Java give the lock back. While it has it nobody of the fleet enters.
func (f *fleet) givesBack(thread, command string) {
	f.Helper()
	f.strange.Add(1)
	f.java.Want("true", thread, command, f.name, 0)
}

// looks has a thread of Java wait for the lock by looking.
func (f *fleet) looks(thread string) {
	f.Helper()
	start := time.Now()
	answer := f.java.Do(thread, "spin", f.name, 0)
	f.Logf("who looks: %s times in vain, for %s", answer, time.Since(start))
	f.givesBack(thread, "unspin")
	if vain, err := strconv.Atoi(answer); err != nil || vain > mostHandOvers {
		f.Errorf("who looks now and then has looked %q times in vain", answer)
	}
}

// javaIsWarm has Java wait once: it has loaded what it needs for that from here on.
func (e *together) javaIsWarm() {
	e.Helper()
	e.java.Want("true", "b", "try", "b", 0) // the server knows Java's script from here on
	lease := e.lock("warm", time.Second)
	before := e.scripts()
	id := e.java.Begin("a", "lock", "warm", 0)
	e.asleep(before)
	e.unlock(lease)
	e.java.Await(id)
}

// javaIsPassedOver: threads of Java wait for a lock that was passed on until then, and again while it is.
func javaIsPassedOver(e *together) {
	e.javaIsWarm()
	for kind, wait := range map[string]func(f *fleet, thread string){"lock": (*fleet).listens, "spin": (*fleet).looks} {
		for i := range 3 {
			f, stop := e.startFleet(fmt.Sprint("hot-", kind, i))
			for range 3 {
				wait(f, "t")
				f.goOn(50)
			}
			stop()
		}
	}
}

// bothKindsWait: threads of both kinds wait for one lock.
func bothKindsWait(e *together) {
	e.javaIsWarm()
	f, stop := e.startFleet("hot")
	defer stop()
	var group sync.WaitGroup
	for thread, wait := range map[string]func(f *fleet, thread string){"t1": (*fleet).listens, "t2": (*fleet).looks} {
		group.Go(func() {
			for range 5 {
				wait(f, thread)
				f.goOn(5)
			}
		})
	}
	group.Wait()
}
