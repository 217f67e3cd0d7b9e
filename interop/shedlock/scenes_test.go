package shedlock_test

import (
	"os"
	"time"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
)

// scenes are what is played, by their names.
func scenes() map[string]func(*together) {
	return map[string]func(*together){
		"Excluded": exclude, "GoIsWoken": wakeGo, "JavaIsWoken": wakeJava, "GoDies": killGo, "JavaDies": killJava,
		"TokensRise": tokensRise, "JavaExtends": javaExtends, "GoRenews": goRenews,
		"JavaHoldsAtLeast": javaHoldsAtLeast, "GoHoldsAtLeast": goHoldsAtLeast, "GoInspects": goInspects,
	}
}

// longLease is for locks that must not end by themselves.
const longLease = int64(60_000)

// exclude shows that each is refused what the other has.
func exclude(e *together) {
	name := e.name("excluded")
	for range rounds {
		l := e.take(e.mutex(name))
		e.java.Want("false", "a", "try", name, longLease)
		e.unlock(l)
		e.java.Want("true", "a", "await", name, longLease)
		e.refused(name)
		e.java.Want("true", "a", "unlock", name, 0)
	}
	e.seen.Show(e.at, e.mode.name, matrix.Excluded, rounds)
}

// wakeGo has Go wait for what Java has.
func wakeGo(e *together) {
	name := e.name("woken")
	var took []time.Duration
	for range rounds {
		e.java.Want("true", "a", "await", name, longLease)
		got := make(chan time.Time, 1)
		go func() {
			l := e.take(e.mutex(name))
			got <- time.Now()
			e.unlock(l)
			got <- time.Now()
		}()
		e.refused(name) // by then it waits, or will
		start := time.Now()
		e.java.Want("true", "a", "unlock", name, 0)
		took = append(took, (<-got).Sub(start))
		<-got
	}
	e.seen.Woke(e, e.at, e.mode.name, matrix.GoWaits, took)
}

// wakeJava has Java try again and again for what Go has.
func wakeJava(e *together) {
	name := e.name("wakes")
	var took []time.Duration
	for range rounds {
		l := e.take(e.mutex(name))
		waiting := e.java.Begin("a", "await", name, longLease)
		start := time.Now()
		e.unlock(l)
		e.java.AnswersWithin(atOnce, waiting)
		took = append(took, time.Since(start))
		e.java.Want("true", "a", "unlock", name, 0)
	}
	e.seen.Woke(e, e.at, e.mode.name, matrix.JavaWaits, took)
}

// killGo shows that Java has what a process of Go had that was killed, when its lease is over.
func killGo(e *together) {
	name := e.name("orphan-of-go")
	dies := e.anotherGo(name)
	waiting := e.java.Begin("a", "await", name, longLease)
	if err := dies.Process.Signal(os.Kill); err != nil {
		e.Fatal(err)
	}
	start := time.Now()
	_ = dies.Wait()
	if answer := e.java.Await(waiting); answer != "true" {
		e.Fatalf("java has not what the dead one had: %q", answer)
	}
	e.seen.TookOver(e, e.at, e.mode.name, matrix.GoDies, time.Since(start), lease+time.Second)
	e.java.Want("true", "a", "unlock", name, 0)
}

// killJava shows that Go has what a Java had that was killed, when its lease is over.
func killJava(e *together) {
	e.java = peer.Start(e.T, e.prog, e.where.java(e.mode)...)
	name := e.name("orphan-of-java")
	e.java.Want("true", "a", "try", name, lease.Milliseconds())
	e.java.Kill()
	start := time.Now()
	e.unlock(e.take(e.mutex(name)))
	e.seen.TookOver(e, e.at, e.mode.name, matrix.JavaDies, time.Since(start), lease+time.Second)
}

// tokensRise: those of Go, with locks of Java in between.
func tokensRise(e *together) {
	name := e.name("tokens")
	last := uint64(0)
	for range rounds {
		l := e.take(e.mutex(name))
		if l.Token() <= last {
			e.Fatalf("token %d after %d", l.Token(), last)
		}
		last = l.Token()
		e.unlock(l)
		e.java.Want("true", "a", "await", name, longLease)
		e.java.Want("true", "a", "unlock", name, 0)
	}
	e.seen.Show(e.at, e.mode.name, matrix.TokensRise, rounds)
}

// javaExtends has Java hold on for longer than it first said.
func javaExtends(e *together) {
	name := e.name("extended")
	short := atOnce
	e.java.Want("true", "a", "try", name, short.Milliseconds())
	e.java.Want("true", "a", "extend", name, longLease)
	over := time.NewTimer(short)
	defer over.Stop()
	<-over.C
	e.refused(name)
	e.java.Want("true", "a", "unlock", name, 0)
	e.unlock(e.take(e.mutex(name)))
}

// goRenews has Go hold on for longer than its lease.
func goRenews(e *together) {
	name := e.name("renewed")
	l := e.take(e.mutex(name))
	over := time.NewTimer(lease + lease/2)
	defer over.Stop()
	<-over.C
	e.java.Want("false", "a", "try", name, longLease)
	e.unlock(l)
	e.java.Want("true", "a", "await", name, longLease)
	e.java.Want("true", "a", "unlock", name, 0)
}

// javaHoldsAtLeast has Java's lock last for its lockAtLeastFor, although it was given back.
func javaHoldsAtLeast(e *together) {
	name := e.name("at-least-by-java")
	start := time.Now()
	e.java.Want("true", "a", "try.atLeast", name, atOnce.Milliseconds())
	e.java.Want("true", "a", "unlock", name, 0)
	e.unlock(e.take(e.mutex(name)))
	e.lasted(time.Since(start))
}

// goHoldsAtLeast has Go's lock last for its MinHold, although it was given back.
func goHoldsAtLeast(e *together) {
	name := e.name("at-least-by-go")
	start := time.Now()
	l, err := e.locks.Mutex(name, &lock.MutexOptions{MinHold: atOnce}).Lock(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	e.unlock(l)
	e.java.Want("true", "a", "await", name, longLease)
	e.lasted(time.Since(start))
	e.java.Want("true", "a", "unlock", name, 0)
}

// lasted checks for how long a lock was kept that must last for atOnce.
func (e *together) lasted(d time.Duration) {
	e.Helper()
	if d < atOnce-5*time.Millisecond || d > atOnce+peer.Patience/10 {
		e.Errorf("it lasted for %s, want %s", d, atOnce)
	}
}

// goInspects shows that Go tells who of Java has a lock: it is the host.
func goInspects(e *together) {
	name := e.name("inspected")
	e.java.Want("true", "a", "await", name, longLease)
	host, err := os.Hostname()
	if err != nil {
		e.Fatal(err)
	}
	info, err := e.locks.Inspect(e.Context(), name)
	if err != nil || len(info.Holders) != 1 || info.Holders[0].Owner != host {
		e.Errorf("%+v, %v", info, err)
	}
	e.java.Want("true", "a", "unlock", name, 0)
	e.seen.Show(e.at, e.mode.name, matrix.InspectedByGo, 1)
}
