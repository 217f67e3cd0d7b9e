package interop

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/multi"
)

// object is a kind of lock that both sides have: who holds it, and who wants it then.
type object struct {
	name         string // a row of the matrix
	test         string // begins the names of its scenes
	holds, waits string // the peer's words for these
	ours         func(locks *lock.Client, name string) (holds, waits wanted)
	inspected    bool // by Inspect, as one lock
	reenters     bool
	silent       bool // Java tells nobody that it releases it
	queues       bool // its wake-ups are those of a line, which has scenes of its own
	plain        bool // a number of permits, without owners
}

// held is what one of Go's has.
type held interface {
	Unlock(ctx context.Context) error
	Context() context.Context
}

// wanted is a lock of Go's of any kind: it is waited for, or tried.
type wanted func(ctx context.Context, try bool) (held, error)

// lockable returns what one lease is had of.
func lockable(l lock.Lockable) wanted {
	return func(ctx context.Context, try bool) (held, error) {
		take := l.Lock
		if try {
			take = l.TryLock
		}
		return take(ctx)
	}
}

// several returns two locks that are had as one.
func several(locks *lock.Client, name string) wanted {
	m := multi.New([]lock.Lockable{locks.Mutex(name+"-1", nil), locks.Mutex(name+"-2", nil)}, nil)
	return func(ctx context.Context, try bool) (held, error) {
		if try {
			return m.TryLock(ctx)
		}
		return m.Lock(ctx)
	}
}

// alike is a kind of which both want the same.
func alike(ours func(*lock.Client, string) wanted) func(*lock.Client, string) (holds, waits wanted) {
	return func(locks *lock.Client, name string) (holds, waits wanted) {
		return ours(locks, name), ours(locks, name)
	}
}

func mutexOf(locks *lock.Client, name string) wanted { return lockable(locks.Mutex(name, nil)) }

func fairOf(locks *lock.Client, name string) wanted {
	return lockable(locks.Mutex(name, &lock.MutexOptions{Fair: true}))
}

func writerOf(locks *lock.Client, name string) wanted {
	return lockable(locks.RWMutex(name, nil).Writer())
}

func readerOf(locks *lock.Client, name string) wanted {
	return lockable(locks.RWMutex(name, nil).Reader())
}

func permitOf(locks *lock.Client, name string) wanted { return lockable(locks.Semaphore(name, 1, nil)) }

// objects are all kinds that can be had and given back.
func objects() []object {
	return []object{
		{
			name: "RLock", test: "Lock", holds: "lock", waits: "lock", ours: alike(mutexOf),
			inspected: true, reenters: true,
		},
		{
			name: "RFencedLock", test: "Fenced", holds: "fenced", waits: "fenced", ours: alike(mutexOf),
			inspected: true, reenters: true,
		},
		{
			name: "RLock of getSpinLock", test: "Spin", holds: "spin", waits: "spin", ours: alike(mutexOf),
			inspected: true, reenters: true, silent: true,
		},
		{
			name: fairObject, test: "Fair", holds: "fair", waits: "fair", ours: alike(fairOf),
			inspected: true, reenters: true, queues: true,
		},
		{
			name: "RReadWriteLock, writers", test: "Writer", holds: "write", waits: "write", ours: alike(writerOf),
			inspected: true, reenters: true,
		},
		{
			name: "RReadWriteLock, readers after a writer", test: "Reader", holds: "write", waits: "read",
			ours: func(locks *lock.Client, name string) (holds, waits wanted) {
				return writerOf(locks, name), readerOf(locks, name)
			},
		},
		{
			name: "RReadWriteLock, a writer after readers", test: "WriterAfterReader", holds: "read", waits: "write",
			ours: func(locks *lock.Client, name string) (holds, waits wanted) {
				return readerOf(locks, name), writerOf(locks, name)
			},
			inspected: true, reenters: true,
		},
		{
			name: "RPermitExpirableSemaphore", test: "Permit", holds: "permit", waits: "permit", ours: alike(permitOf),
			inspected: true,
		},
		{name: plainObject, test: "Plain", holds: "plain", waits: "plain", ours: alike(permitOf), plain: true},
		{name: "RMultiLock", test: "Multi", holds: "multi", waits: "multi", ours: alike(several)},
	}
}

// ofEveryKind are the scenes that are the same for all kinds.
func ofEveryKind() scenes {
	all := scenes{"JavaIsKilled": everyJavaDies, "GoIsKilled": everyGoDies}
	for _, o := range objects() {
		all[o.test+"Excludes"] = o.excludes
		if o.reenters {
			all[o.test+"Reenters"] = o.reentersBoth
		}
		if !o.queues {
			all[o.test+"JavaIsWoken"] = o.javaIsWoken
		}
		if !o.queues && !o.silent {
			all[o.test+"GoIsWoken"] = o.goIsWoken
		}
	}
	return all
}

// play is one scene with an object: Java's side and Go's on one name.
type play struct {
	*together
	object
	name             string
	goHolds, goWaits wanted
}

func (o object) play(e *together, scene string) *play {
	e.Helper()
	p, locks := &play{together: e, object: o, name: o.test + "-" + scene}, e.locks
	if o.plain {
		locks = e.plainLocks()
	}
	p.goHolds, p.goWaits = o.ours(locks, p.name)
	e.java.Want("true", "a", o.holds+":prepare", p.name, 0)
	return p
}

// channel is where the release of what is held is told.
func (p *play) channel() string {
	switch p.holds {
	case "read", "write":
		return "redisson_rwlock:{" + p.name + "}"
	case "permit", "plain":
		return "redisson_sc:{" + p.name + "}"
	case "multi":
		return "redisson_lock__channel:{" + p.name + "-1}"
	default:
		return "redisson_lock__channel:{" + p.name + "}"
	}
}

// javaTakes has a thread of Java take what excludes others.
func (p *play) javaTakes() {
	p.Helper()
	p.java.Want("true", "a", p.holds+":try", p.name, int(peer.Patience.Milliseconds()))
}

func (p *play) javaGives() {
	p.Helper()
	p.java.Want("true", "a", p.holds+":unlock", p.name, 0)
}

// takeForGo waits for a lock that is free, or will soon be.
func (p *play) takeForGo(l wanted) held {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), peer.Patience)
	p.Cleanup(cancel)
	h, err := l(ctx, false)
	if err != nil {
		p.Fatal(err)
	}
	return h
}

func (p *play) goGives(h held) {
	p.Helper()
	if err := h.Unlock(context.WithoutCancel(p.Context())); err != nil {
		p.Error(err)
	}
}

// goIsRefused checks that Go cannot have it now.
func (p *play) goIsRefused() {
	p.Helper()
	if h, err := p.goWaits(p.Context(), true); !errors.Is(err, lock.ErrHeld) {
		p.Fatalf("want ErrHeld, got %v, %v", h, err)
	}
}

func (p *play) javaIsRefused() {
	p.Helper()
	p.java.Want("false", "b", p.waits+":try", p.name, 0)
}

// waited is what has become of one who waited.
type waited struct {
	held
	err error
}

// startWaiting has a goroutine wait for what is held.
func (p *play) startWaiting() <-chan waited {
	got, ctx := make(chan waited, 1), p.Context()
	go func() {
		h, err := p.goWaits(ctx, false)
		got <- waited{h, err}
	}()
	return got
}

// goIsWoken when Java gives back what it holds, and renews for longer than it lives by itself.
func (o object) goIsWoken(e *together) {
	p := o.play(e, "wakes-go")
	var took []time.Duration
	for range wakeUps {
		p.javaTakes()
		before, got := e.scripts(), p.startWaiting()
		e.listens(before, p.channel())
		start := time.Now()
		p.javaGives()
		select {
		case w := <-got:
			if w.err != nil {
				e.Fatal(w.err)
			}
			took = append(took, time.Since(start))
			p.goGives(w.held)
		case <-time.After(atOnce):
			e.Fatalf("go is not woken, in round %d", len(took)+1)
		}
	}
	e.woke(o.name, matrix.GoWaits, took)
}

// javaIsWoken when Go gives back what would live for 30 s.
func (o object) javaIsWoken(e *together) {
	p := o.play(e, "wakes-java")
	var took []time.Duration
	for range wakeUps {
		h := p.takeForGo(p.goHolds)
		before := e.scripts()
		waiting := e.java.Begin("b", p.waits+":try", p.name, int(peer.Patience.Milliseconds()))
		e.asleep(before)
		start := time.Now()
		p.goGives(h)
		e.java.AnswersWithin(atOnce, waiting)
		took = append(took, time.Since(start))
		e.java.Want("true", "b", p.waits+":unlock", p.name, 0)
	}
	e.woke(o.name, matrix.JavaWaits, took)
}

// excludes: each is refused while the other one has it, and sees that from its side.
func (o object) excludes(e *together) {
	p := o.play(e, "excludes")
	for range wakeUps {
		p.javaTakes()
		p.goIsRefused()
		p.inspectedWhileJavaHolds()
		p.javaGives()
		h := p.takeForGo(p.goHolds)
		p.javaIsRefused()
		p.inspectedWhileGoHolds()
		p.goGives(h)
		p.inspectedWhenFree()
	}
	e.shows(o.name, matrix.Excluded, wakeUps)
	if o.inspected {
		e.shows(o.name, matrix.InspectedByGo, wakeUps)
		e.shows(o.name, matrix.InspectedByJava, wakeUps)
	}
}

// inspectedWhileJavaHolds: Go sees one holder whose time is that of Java's watchdog at most.
func (p *play) inspectedWhileJavaHolds() {
	p.Helper()
	if !p.inspected {
		return
	}
	info, err := p.locks.Inspect(p.Context(), p.name)
	if err != nil || len(info.Holders) != 1 || info.Holders[0].Owner == "" {
		p.Fatalf("inspected %+v, %v", info, err)
	}
	if left := info.Holders[0].TTL; p.holds != "permit" && (left <= 0 || left > watchdog) {
		p.Errorf("go sees %s left of what java renews", left)
	}
}

// inspectedWhileGoHolds: Java sees that it is held, for how long, and that none of its own threads has it.
func (p *play) inspectedWhileGoHolds() {
	p.Helper()
	if !p.inspected {
		return
	}
	p.java.Want("true", "look", p.holds+":locked", p.name, 0)
	if p.holds == "permit" {
		return // nothing more can be asked there
	}
	p.java.Want("0", "look", p.holds+":holds", p.name, 0)
	p.java.Want("false", "look", p.holds+":mine", p.name, 0)
	left, err := strconv.Atoi(p.java.Do("look", p.holds+":left", p.name, 0))
	if err != nil || left <= 0 || left > 30_000 {
		p.Errorf("java sees %d ms left (%v)", left, err)
	}
}

func (p *play) inspectedWhenFree() {
	p.Helper()
	if !p.inspected {
		return
	}
	p.java.Want("false", "look", p.holds+":locked", p.name, 0)
	if info, err := p.locks.Inspect(p.Context(), p.name); err != nil || info.Held() {
		p.Errorf("inspected %+v, %v", info, err)
	}
}

// reentersBoth: who has it takes it once more, and others have it only when it was given back as often.
func (o object) reentersBoth(e *together) {
	p := o.play(e, "reenters")
	for range wakeUps {
		p.javaTakes()
		p.javaTakes()
		e.java.Want("2", "a", p.holds+":holds", p.name, 0)
		p.goIsRefused()
		p.javaGives()
		e.java.Want("1", "a", p.holds+":holds", p.name, 0)
		p.goIsRefused()
		p.javaGives()
		outer := p.takeForGo(p.goHolds)
		inner, err := p.goHolds(outer.Context(), false)
		if err != nil {
			e.Fatal(err)
		}
		p.javaIsRefused()
		p.goGives(inner)
		p.javaIsRefused()
		p.goGives(outer)
	}
	e.shows(o.name, matrix.Reentered, wakeUps)
}
