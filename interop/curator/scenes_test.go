package curator_test

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// scenes are what is played, by their names.
func scenes() map[string]func(*together) {
	all := map[string]func(*together){
		"JavaRevokes": javaRevokes, "GoRevokes": goRevokes, "JavaHasAnotherKind": javaHasAnotherKind,
		"ReadersShare": readersShare, "GoDowngrades": goDowngrades, "JavaDowngrades": javaDowngrades,
		"PermitsAreCounted": permitsAreCounted, "LeaderIsSeen": leaderIsSeen,
		"CandidateIsPassed": candidateIsPassed,
	}
	for _, o := range objects() {
		all[o.slug+"IsExcluded"] = o.exclude
		all[o.slug+"OfGoIsWoken"] = o.wakeGo
		all[o.slug+"OfJavaIsWoken"] = o.wakeJava
		all[o.slug+"OfGoDies"] = o.killGo
		all[o.slug+"OfJavaDies"] = o.killJava
		all[o.slug+"TokensRise"] = o.tokensRise
		if o.exclusive {
			all[o.slug+"LineIsOne"] = o.lineIsOne
		}
	}
	return all
}

// javaHasAnotherKind: Go takes no name that Java has as a lock of another kind.
func javaHasAnotherKind(e *together) {
	for word, argument := range map[string]string{"mutex": "0", "read": "0", "write": "0", "permit": "3,0"} {
		e.java.Want("true", "a", word+".try", path("kind-"+word), argument)
		for kind, ours := range map[string]lock.Lockable{
			"mutex":  e.locks.Mutex("kind-"+word, nil),
			"read":   e.locks.RWMutex("kind-"+word, nil).Reader(),
			"write":  e.locks.RWMutex("kind-"+word, nil).Writer(),
			"permit": e.locks.Semaphore("kind-"+word, 3, nil),
		} {
			lease, err := ours.TryLock(e.Context())
			switch other := kind != word && !(kind[0] == 'r' && word[0] == 'w' || kind[0] == 'w' && word[0] == 'r'); {
			case err == nil && other:
				e.Errorf("a %s beside a %s: token %d", kind, word, lease.Token())
			case err == nil:
				e.unlock(lease)
			case errors.Is(err, lock.ErrKind) != other:
				e.Errorf("a %s beside a %s: %v", kind, word, err)
			}
		}
		e.java.Want("true", "a", word+".unlock", path("kind-"+word), 0)
	}
}

// readersShare: any number of both sides read, and nobody writes meanwhile.
func readersShare(e *together) {
	ours := e.locks.RWMutex("shared", nil)
	for i := range rounds {
		take := func() { e.java.Want("true", "a", "read.try", path("shared"), atOnce.Milliseconds()) }
		if i%2 == 0 {
			take()
		}
		lease := e.take(ours.Reader())
		if i%2 == 1 {
			take()
		}
		e.refused(ours.Writer())
		e.java.Want("false", "b", "write.try", path("shared"), 0)
		e.unlock(lease)
		e.refused(ours.Writer())
		e.java.Want("true", "a", "read.unlock", path("shared"), 0)
		e.unlock(e.take(ours.Writer()))
	}
	e.seen.Show(e.at, "InterProcessReadWriteLock, both read", matrix.Shared, rounds)
}

// goDowngrades: a writer of Go goes on to read, readers of Java come, and its writers do not.
func goDowngrades(e *together) {
	ours := e.locks.RWMutex("down", nil)
	for range rounds {
		writes := e.take(ours.Writer())
		e.java.Want("false", "a", "read.try", path("down"), 0)
		reads, err := writes.Downgrade(e.Context())
		if err != nil {
			e.Fatal(err)
		}
		e.java.Want("true", "a", "read.try", path("down"), atOnce.Milliseconds())
		e.java.Want("true", "a", "read.unlock", path("down"), 0)
		e.java.Want("false", "b", "write.try", path("down"), 0)
		e.unlock(reads)
		e.java.Want("true", "b", "write.try", path("down"), atOnce.Milliseconds())
		e.java.Want("true", "b", "write.unlock", path("down"), 0)
	}
	e.seen.Show(e.at, "InterProcessReadWriteLock, Go goes on to read", matrix.Shared, rounds)
}

// javaDowngrades is the same the other way round.
func javaDowngrades(e *together) {
	ours := e.locks.RWMutex("down-java", nil)
	for range rounds {
		e.java.Want("true", "a", "write.try", path("down-java"), atOnce.Milliseconds())
		e.java.Want("true", "a", "read.try", path("down-java"), atOnce.Milliseconds())
		e.refused(ours.Reader())
		e.java.Want("true", "a", "write.unlock", path("down-java"), 0)
		e.unlock(e.take(ours.Reader()))
		e.refused(ours.Writer())
		e.java.Want("true", "a", "read.unlock", path("down-java"), 0)
		e.unlock(e.take(ours.Writer()))
	}
	e.seen.Show(e.at, "InterProcessReadWriteLock, Java goes on to read", matrix.Shared, rounds)
}

// permitsAreCounted: those of both sides, one and several at a time.
func permitsAreCounted(e *together) {
	const name = "counted"
	ours := e.locks.Semaphore(name, 3, nil)
	for range rounds {
		lease := e.take(ours.Permits(2))
		e.java.Want("true", "a", "permit.try", path(name), "3,0")
		e.java.Want("false", "b", "permit.try", path(name), "3,0")
		e.refused(ours)
		e.unlock(lease)
		e.java.Want("true", "a", "permit.try", path(name), "3,0")
		e.refused(ours.Permits(2))
		one := e.take(ours)
		e.java.Want("false", "b", "permit.try", path(name), "3,0")
		e.unlock(one)
		for range 2 {
			e.java.Want("true", "a", "permit.unlock", path(name), 0)
		}
		e.unlock(e.take(ours.Permits(3)))
	}
	e.seen.Show(e.at, "InterProcessSemaphoreV2, three permits", matrix.Excluded, rounds)
}

// leaderIsSeen: each side sees who leads of the other, and Java all who take part.
func leaderIsSeen(e *together) {
	locks := e.client(zklock.CuratorLatch)
	here, there := election.New(locks, "seen", nil), election.New(e.client(zklock.CuratorLatch), "seen", nil)
	for range rounds {
		term, err := here.Campaign(e.Context())
		if err != nil {
			e.Fatal(err)
		}
		e.java.Want(term.Owner(), "a", "latch.leader", path("seen"), 0)
		waits := e.java.Begin("b", "latch.try", path("seen"), peer.Patience.Milliseconds())
		e.untilTakePart("seen", "2")
		if err := term.Resign(e.Context()); err != nil {
			e.Fatal(err)
		}
		if answer := e.java.Await(waits); answer != "true" {
			e.Fatalf("java does not lead: %q", answer)
		}
		if leader, err := there.Leader(e.Context()); err != nil || leader.Owner != "java" {
			e.Fatalf("java leads, told is %+v, %v", leader, err)
		}
		e.java.Want("true", "b", "latch.unlock", path("seen"), 0)
	}
	e.seen.Show(e.at, "LeaderLatch", matrix.InspectedByGo, rounds)
	e.seen.Show(e.at, "LeaderLatch", matrix.InspectedByJava, rounds)
}

// untilTakePart waits until Java sees so many who take part in an election.
func (e *together) untilTakePart(name, n string) {
	e.Helper()
	e.eventually(n+" take part in "+name, func() bool {
		return e.java.Do("a", "latch.participants", path(name), 0) == n
	})
}

// candidateIsPassed: who campaigns in Go takes part as soon as it waits, and leads before who comes later in Java.
func candidateIsPassed(e *together) {
	ours := election.New(e.client(zklock.CuratorLatch), "passed", nil)
	for range rounds {
		e.java.Want("true", "a", "latch.try", path("passed"), peer.Patience.Milliseconds())
		led := make(chan error, 1)
		go func() {
			term, err := ours.Campaign(e.Context())
			if err == nil {
				err = term.Resign(e.Context())
			}
			led <- err
		}()
		e.untilTakePart("passed", "2")
		later := e.java.Begin("b", "latch.try", path("passed"), peer.Patience.Milliseconds())
		e.untilTakePart("passed", "3")
		e.java.Want("true", "a", "latch.unlock", path("passed"), 0)
		if err := <-led; err != nil {
			e.Fatal(err)
		}
		if answer := e.java.Await(later); answer != "true" {
			e.Fatalf("java, which came last, got %q", answer)
		}
		e.java.Want("true", "b", "latch.unlock", path("passed"), 0)
	}
	e.seen.Show(e.at, "LeaderLatch, candidates of an election", matrix.InOrder, rounds)
}

// javaRevokes: Go's holder is asked to give it back by Curator's Revoker.
func javaRevokes(e *together) {
	lease := e.take(e.locks.Mutex("revoked", nil))
	e.java.Want("true", "a", "mutex.revoke", path("revoked"), 0)
	select {
	case <-lease.Asked():
	case <-time.After(atOnce):
		e.Fatal("the holder is not asked")
	}
	e.unlock(lease)
}

// goRevokes: Java's holder, which is revocable, is asked by Go.
func goRevokes(e *together) {
	e.java.Want("true", "a", "mutex.revocable", path("revocable"), 0)
	e.java.Want("true", "a", "mutex.try", path("revocable"), 0)
	if _, err := e.locks.Ask(e.Context(), "revocable", "", 0); err != nil {
		e.Fatal(err)
	}
	e.eventually("java is asked", func() bool { return e.java.Do("a", "mutex.revoked", path("revocable"), 0) == "1" })
	e.java.Want("true", "a", "mutex.unlock", path("revocable"), 0)
}
