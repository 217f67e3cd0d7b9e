package interop

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// ofFair are the scenes with RFairLock.
func ofFair() scenes {
	return scenes{
		"FairJavaAlone":            fairJavaAlone,
		"FairGoIsWoken":            fairGoIsWoken,
		"FairJavaIsWoken":          fairJavaIsWoken,
		"FairJavaComesLater":       fairJavaComesLater,
		"FairOrderOfArrival":       fairOrderOfArrival,
		"FairJavaDiesBehindGo":     func(e *together) { fairJavaDies(e, false) },
		"FairJavaDiesBehindJava":   func(e *together) { fairJavaDies(e, true) },
		"FairGoDiesBehindGo":       func(e *together) { fairGoDies(e, false) },
		"FairGoDiesBehindJava":     func(e *together) { fairGoDies(e, true) },
		"FairGoDiesBeforeJavaOnly": fairGoDiesBeforeJavaOnly,
		"FairHolderDies":           fairHolderDies,
		"FairLongHold":             fairLongHold,
		"FairJavaGivesUp":          fairJavaGivesUp,
		"FairGoGivesUp":            fairGoGivesUp,
		"FairIsInspected":          fairIsInspected,
		"FairTryDoesNotOvertake":   fairTryDoesNotOvertake,
	}
}

// fairJavaAlone: threads of Java are served in order, which is what the other scenes build on.
func fairJavaAlone(e *together) {
	f := e.fairLine("a")
	holder := f.javaHas(e.java, "1")
	var line []*contender
	for i := range 3 {
		line = append(line, f.javaQueues(e.java, strconv.Itoa(i+2)))
	}
	f.inLine(3)
	f.servesAll(holder, line...)
}

const (
	fairObject = "RFairLock"
	fairRounds = 20 // of seven contenders each
)

// fairGoIsWoken by Java's release. Go's place is kept, and asked for, every two seconds: that would be too late.
func fairGoIsWoken(e *together) {
	e.javaIsWarmInLine()
	f := e.fairLine("a")
	var took []time.Duration
	for range wakeUps {
		holder := f.javaHas(e.java, "1")
		before := e.scripts()
		waiter := f.goQueues(e.locks, "waiter")
		e.asleep(before)
		took = append(took, f.passesTo(holder, waiter, atOnce))
		waiter.give(waiter)
		f.isGone()
	}
	e.woke(fairObject, matrix.GoWaits, took)
}

// fairJavaIsWoken by Go's release. Go's lock would live for seconds.
func fairJavaIsWoken(e *together) {
	e.javaIsWarmInLine()
	f := e.fairLine("a")
	var took []time.Duration
	for range wakeUps {
		holder := f.goHas(e.locks, "holder")
		before := e.scripts()
		waiter := f.javaQueues(e.java, "1")
		e.asleep(before)
		took = append(took, f.passesTo(holder, waiter, atOnce))
		waiter.give(waiter)
		f.isGone()
	}
	e.woke(fairObject, matrix.JavaWaits, took)
}

// fairJavaComesLater to one of Go's that was next, was given the lock, and left nobody in line.
func fairJavaComesLater(e *together) {
	e.javaIsWarmInLine()
	f := e.fairLine("a")
	process, _ := e.process()
	for _, locks := range []*lock.Client{e.locks, process} {
		holder := f.goHas(e.locks, "holder")
		given := f.goQueues(locks, "given")
		f.passesTo(holder, given, atOnce)
		before := e.scripts()
		later := f.javaQueues(e.java, "later")
		e.asleep(before)
		f.servesAll(given, later)
	}
}

// fairOrderOfArrival is the order of grants, whoever has the lock first, and whoever is first in line.
func fairOrderOfArrival(e *together) {
	e.javaIsWarmInLine()
	f := e.fairLine("a")
	other, _ := e.process()
	clients := []*lock.Client{e.locks, other}
	for round := range fairRounds {
		holder := f.oneHas(round%2 == 0)
		var line []*contender
		for i := range 6 {
			who := strconv.Itoa(i + 1)
			if (round/2+i)%2 == 0 {
				line = append(line, f.javaQueues(e.java, who))
			} else {
				line = append(line, f.goQueues(clients[(round/4+i/2)%2], who))
			}
		}
		f.inLine(len(line))
		f.servesAll(holder, line...)
	}
	e.shows(fairObject, matrix.InOrder, fairRounds)
}

// oneHas has one of Java's take the lock, or one of Go's.
func (f *fairLine) oneHas(ofJava bool) *contender {
	f.Helper()
	if ofJava {
		return f.javaHas(f.java, "holder")
	}
	return f.goHas(f.locks, "holder")
}

// fairJavaDies: a program dies whose thread is next. Redisson alone would wait for it for five minutes.
func fairJavaDies(e *together, behindJava bool) {
	f := e.fairLine("a")
	living, dies := e.java, e.anotherJava()
	holder := f.oneHas(behindJava)
	f.javaQueues(dies, "dies").gone = true
	second := f.goQueues(e.locks, "second")
	third := f.javaQueues(living, "third")
	dies.Kill()
	f.Logf("passed over after %s", f.passesTo(holder, second, passedOver))
	f.servesAll(second, third)
}

// fairGoDies: a process dies that is next.
func fairGoDies(e *together, behindJava bool) {
	f := e.fairLine("a")
	process, kill := e.process()
	holder := f.oneHas(behindJava)
	f.goQueues(process, "dead").gone = true
	second := f.javaQueues(e.java, "second")
	third := f.goQueues(e.locks, "third")
	kill()
	f.Logf("passed over after %s", f.passesTo(holder, second, passedOver))
	f.servesAll(second, third)
}

// fairGoDiesBeforeJavaOnly: nobody of Bedrock's is left to notice; the time that it has in Redisson's line is short.
func fairGoDiesBeforeJavaOnly(e *together) {
	f := e.fairLine("a")
	process, kill := e.process()
	holder := f.javaHas(e.java, "holder")
	f.goQueues(process, "dead").gone = true
	second := f.javaQueues(e.java, "second")
	kill()
	f.Logf("passed over after %s", f.passesTo(holder, second, 3*passedOver))
	second.give(second)
	f.until("nothing is left of who died", func() bool { return len(f.order()) == 0 })
}

// fairHolderDies: Java's, while others stand in line. Its lock expires, and then it is the first one's turn.
func fairHolderDies(e *together) {
	f := e.fairLine("a")
	dies := e.anotherJava()
	f.javaHas(dies, "dies")
	first := f.goQueues(e.locks, "first")
	second := f.javaQueues(e.java, "second")
	dies.Kill()
	f.serves(first, watchdog+atOnce)
	f.servesAll(first, second)
}

// fairLongHold: one of Go's has the lock for longer than several of its claims, which is what it was granted at first.
func fairLongHold(e *together) {
	f := e.fairLine("a")
	holder := f.javaHas(e.java, "holder")
	long := f.goQueues(e.locks, "long")
	line := []*contender{
		f.javaQueues(e.java, "1"), f.goQueues(e.locks, "2"), f.javaQueues(e.java, "3"), f.goQueues(e.locks, "4"),
	}
	f.passesTo(holder, long, atOnce)
	want, tick := f.order(), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(12 * time.Second); time.Now().Before(end); <-tick.C {
		if order := f.order(); !slices.Equal(order, want) {
			f.Fatalf("the line is %q, and was %q", order, want)
		}
		if err := long.lease.Err(); err != nil {
			f.Fatal(err)
		}
	}
	f.inLine(len(line))
	f.servesAll(long, line...)
}

// fairJavaGivesUp, who is next, and who is in the middle.
func fairJavaGivesUp(e *together) {
	f := e.fairLine("a")
	holder := f.goHas(e.locks, "holder")
	wait := time.Second
	gives := f.queues(func() *contender { return f.javaComes(e.java, "brief", wait) })
	second := f.goQueues(e.locks, "second")
	middle := f.queues(func() *contender { return f.javaComes(e.java, "middle", 2*wait) })
	last := f.goQueues(e.locks, "last")
	f.inLine(4)
	for i, c := range []*contender{gives, middle} {
		if got := f.nextOver(c, peer.Patience); got != c || c.answer != "false" {
			f.Fatalf("%s: %s, when %s should give up", got.who, got.answer, c.who)
		}
		f.inLine(3 - i)
	}
	f.servesAll(holder, second, last)
}

// fairGoGivesUp, who is next, and who is in the middle.
func fairGoGivesUp(e *together) {
	f := e.fairLine("a")
	holder := f.javaHas(e.java, "holder")
	first, firstEnds := context.WithCancel(e.Context())
	defer firstEnds()
	middle, middleEnds := context.WithCancel(e.Context())
	defer middleEnds()
	gives := f.queues(func() *contender { return f.goComes(first, e.locks, "first") })
	second := f.javaQueues(e.java, "second")
	between := f.queues(func() *contender { return f.goComes(middle, e.locks, "middle") })
	last := f.javaQueues(e.java, "last")
	f.inLine(4)
	for i, end := range []context.CancelFunc{middleEnds, firstEnds} {
		c := []*contender{between, gives}[i]
		end()
		if got := f.nextOver(c, peer.Patience); got != c || c.lease != nil {
			f.Fatalf("%s: %s, when %s should give up", got.who, got.answer, c.who)
		}
		f.inLine(3 - i)
	}
	f.servesAll(holder, second, last)
}

// fairIsInspected by both.
func fairIsInspected(e *together) {
	f := e.fairLine("a")
	e.java.Want("false", "look", "fair.locked", "a", 0)
	holder := f.goHas(e.locks, "holder")
	e.java.Want("true", "look", "fair.locked", "a", 0)
	e.java.Want("0", "look", "fair.holds", "a", 0)
	left, err := strconv.Atoi(e.java.Do("look", "fair.left", "a", 0))
	if err != nil || left <= 0 || left > 30_000 {
		f.Errorf("java sees %d ms left (%v)", left, err)
	}
	first, second := f.javaQueues(e.java, "first"), f.goQueues(e.locks, "second")
	info, err := e.locks.Inspect(e.Context(), "a")
	if err != nil || len(info.Holders) != 1 || len(info.Line) != 2 {
		f.Fatalf("inspected %+v, %v", info, err)
	}
	for i, owner := range f.order() {
		if told := info.Line[i].Owner; told != owner && told != driver.PublicOwner(owner) {
			f.Errorf("place %d: inspected %q, in line is %q", i+1, told, owner)
		}
	}
	if of := info.Line[1]; of.Since.IsZero() || of.Meta["pid"] == "" {
		f.Errorf("inspected of Go's: %+v", of)
	}
	f.passesTo(holder, first, atOnce)
	e.java.Want("1", "first", "fair.holds", "a", 0)
	info, err = e.locks.Inspect(e.Context(), "a")
	if err != nil || len(info.Holders) != 1 || len(info.Line) != 1 {
		f.Errorf("inspected %+v, %v", info, err)
	}
	f.servesAll(first, second)
}

// fairTryDoesNotOvertake: who does not wait is refused while somebody stands in line, also while nobody has the lock.
func fairTryDoesNotOvertake(e *together) {
	f := e.fairLine("a")
	dies := e.anotherJava()
	holder := f.goHas(e.locks, "holder")
	f.javaQueues(dies, "dies").gone = true
	dies.Kill()
	holder.give(holder)
	lease, err := f.fair(e.locks).TryLock(e.Context())
	if held, ok := errors.AsType[*lock.HeldError](err); !ok || !held.Waits || held.Owner == "" {
		f.Errorf("want who is next, got %v, %v", lease, err)
	}
	e.java.Want("false", "a", "fair.try", "a", 0)
	second := f.goQueues(e.locks, "second")
	f.serves(second, passedOver)
	e.java.Want("false", "a", "fair.try", "a", 0)
	f.servesAll(second)
}
