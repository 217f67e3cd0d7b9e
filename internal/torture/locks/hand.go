package locks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/lock"
)

// hand is a goroutine that takes and leaves locks that others want as well.
type hand struct {
	*customer

	random  *rand.Rand
	duty    duty
	visitor *visitor
}

// duty says which names a hand takes.
type duty int

const (
	roaming  duty = iota // all shared ones
	faithful             // one that everybody wants, with much patience
	paired               // one that one hand of another process wants as well, and nobody else
)

func (h *hand) run() {
	var err error
	if h.visitor, err = newVisitor(h.Guard); err != nil {
		return // the run is over
	}
	defer h.visitor.conn.Close()
	for !h.isOver() {
		w := h.drawWish()
		h.round(w)
		h.idle(&w)
	}
}

// idle lets a pair's name rest now and then: that nobody was told of its end shows only
// while nobody else asks for it.
func (h *hand) idle(w *wish) {
	if h.duty == roaming && h.Kin == polling {
		time.Sleep(nemesis.Between(h.random, look, 4*look))
	}
	if h.duty != paired {
		return
	}
	rest := nemesis.Between(h.random, 0, 100*time.Millisecond)
	if w.opts.MinHold > 0 {
		rest = nemesis.Between(h.random, time.Second, 4*time.Second)
	}
	for end := history.Now() + rest; history.Now() < end && !h.isOver(); {
		time.Sleep(look)
	}
}

// wish is one lease to be had.
type wish struct {
	name   string
	style  style
	opts   lock.MutexOptions
	wait   time.Duration
	hold   time.Duration
	giveUp time.Duration // for a caller who does not wait to the end
}

const shortHold = 20 * time.Millisecond

// drawWish makes a wish up.
func (h *hand) drawWish() wish {
	r := h.random
	if h.duty == faithful {
		w := wish{
			name: h.Prefix + "hot/0", style: devoted, wait: 30 * time.Second,
			hold: nemesis.Between(r, 2*time.Millisecond,
				30*time.Millisecond),
		}
		h.asKin(&w)
		return w
	}
	w := wish{style: plain, wait: nemesis.Between(r, 100*time.Millisecond, 5*time.Second), hold: nemesis.Between(r, 0,
		shortHold)}
	ttl := h.TTL
	w.name = fmt.Sprintf("%shot/%d", h.Prefix, r.IntN(hotNames))
	if r.IntN(3) == 0 {
		ttl, w.name = h.Long, fmt.Sprintf("%slong/%d", h.Prefix, r.IntN(longNames))
		w.opts.TTL = ttl
	}
	if h.duty == paired {
		// A wake-up that is missed shows only where nobody else comes along.
		ttl, w.name, w.wait = h.Long, h.Prefix+h.Pair, nemesis.Between(r, time.Second, longTTL/2)
		w.opts.TTL = ttl
	}
	h.vary(&w, ttl)
	h.asKin(&w)
	return w
}

// vary makes a wish special.
func (h *hand) vary(w *wish, ttl time.Duration) {
	r := h.random
	roll := r.IntN(100)
	if h.duty == paired && roll >= 50 {
		roll = 40 // with a minimum hold
	}
	switch {
	case roll < 12:
		w.style, w.wait = try, time.Second
	case roll < 30:
		// Evenly from 10 µs to 20 ms on a logarithmic scale: most of a request is short.
		w.style = cancelled
		w.giveUp = time.Duration(float64(10*time.Microsecond) * math.Pow(2000, r.Float64()))
	case roll < 38:
		w.style = reentered
	case roll < 43:
		w.style, w.opts.MinHold = minHold, nemesis.Between(r, 20*time.Millisecond, 400*time.Millisecond)
	case roll < 46:
		w.style, w.opts.Fixed, w.opts.TTL = fixed, true, nemesis.Between(r, 100*time.Millisecond, 300*time.Millisecond)
		w.hold = nemesis.Between(r, 0, w.opts.TTL*5/4)
	case roll < 48 && ttl == h.TTL:
		w.style, w.hold = half, nemesis.Between(r, ttl*45/100, ttl*55/100)
	case roll < 49 && ttl == h.TTL:
		w.style, w.hold = full, nemesis.Between(r, ttl*9/10, ttl*11/10)
	case roll < 60 && h.duty == roaming && ttl == h.Long:
		w.style, w.hold = lasting, nemesis.Between(r, 200*time.Millisecond, time.Second)
	}
}

// round fulfils a wish.
func (h *hand) round(w wish) {
	op := h.ops.Add(1)
	ctx, cancel := context.WithTimeout(context.Background(), w.wait)
	defer cancel()
	lease := h.takeLock(ctx, op, &w)
	if lease == nil {
		return
	}
	h.visit(op, lease)
	inner := h.enterAgain(ctx, op, &w, lease)
	good, lost := h.holdLease(op, lease, w.hold)
	if inner != nil {
		_ = inner.Unlock(ctx) // the outer one counts
	}
	if lost {
		h.add(&event{Kind: kindEnd, Op: op, Good: good, Class: classOf(lease.Err()), Text: textOf(lease.Err())})
	}
	h.unlockLease(op, lease, good)
}

// takeLock asks for the lock and writes down what came of it.
func (h *hand) takeLock(ctx context.Context, op int64, w *wish) *lock.Lease {
	mutex := h.session.Mutex(w.name, &w.opts)
	e := &event{
		At: history.Now(), Kind: kindAsk, Op: op, Client: h.number, Name: w.name, Style: w.style,
		TTL: max(w.opts.TTL, h.TTL), MinHold: w.opts.MinHold,
	}
	if w.opts.Fixed {
		e.TTL = w.opts.TTL
	}
	e.Until = e.At + w.wait
	if w.giveUp > 0 {
		e.Until = e.At + w.giveUp
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.giveUp)
		defer cancel()
	}
	h.book.Add(e)
	call := mutex.Lock
	if w.style == try {
		call = mutex.TryLock
	}
	lease, err := call(ctx)
	if err != nil {
		h.add(&event{
			Kind: kindNo, Op: op, Class: classOf(err), Text: textOf(err), Doubt: lock.MaybeApplied(err),
		})
		return nil
	}
	h.add(&event{Kind: kindGot, Op: op, Token: lease.Token(), Owner: lease.Owner()})
	return lease
}

// enterAgain takes the lock once more under its lease, where the wish says so.
func (h *hand) enterAgain(ctx context.Context, op int64, w *wish, lease *lock.Lease) *lock.Lease {
	if w.style != reentered {
		return nil
	}
	inner, err := h.session.Mutex(w.name, nil).Lock(lease.Context())
	if err != nil && ctx.Err() == nil && lease.State() < lock.Lost {
		h.add(&event{Kind: kindNo, Op: op, Style: inside, Name: w.name, Class: classOf(err), Text: textOf(err)})
	}
	return inner
}

const (
	look  = 5 * time.Millisecond
	proof = 100 * time.Millisecond
)

// holdLease keeps a lease, and returns when it could last be relied on. The clock is read
// before the lease is looked at: what held at the look held then.
func (h *hand) holdLease(op int64, l *lock.Lease, d time.Duration) (good time.Duration, lost bool) {
	end := history.Now() + d
	proven := history.Now()
	for {
		now := history.Now()
		if l.State() >= lock.Lost {
			return good, true
		}
		good = now
		if now >= end {
			return good, false
		}
		if now-proven >= proof {
			proven = now
			h.book.Add(&event{At: now, Kind: kindGood, Op: op})
		}
		time.Sleep(min(look, end-now))
	}
}

// visit writes to the guarded resource. That a write is refused while the lease is good
// is told; the oracle knows whether it still was.
func (h *hand) visit(op int64, l *lock.Lease) {
	from := history.Now()
	accepted, err := h.visitor.write(l.Name(), l.Token())
	if err == nil && !accepted {
		h.add(&event{Kind: kindRefused, Op: op, From: from, Name: l.Name(), Token: l.Token()})
	}
}

// unlockLimit bounds an Unlock.
const unlockLimit = time.Second

func (h *hand) unlockLease(op int64, l *lock.Lease, good time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), unlockLimit)
	defer cancel()
	now := history.Now()
	h.book.Add(&event{At: now, Kind: kindOut, Op: op, Good: good, Until: now + unlockLimit})
	err := l.Unlock(ctx)
	h.add(&event{Kind: kindLeft, Op: op, Class: classOf(err), Text: textOf(err)})
}

// classOf puts an error into one word.
func classOf(err error) class {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, lock.ErrLost):
		return classLost
	case errors.Is(err, lock.ErrClosed):
		return classClosed
	case errors.Is(err, lock.ErrReleased):
		return classReleased
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return classGone
	case errors.Is(err, lock.ErrHeld):
		return classHeld
	default:
		return classFailed
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// keeper is a goroutine with a lock of its own, that it holds just about until its
// renewal.
type keeper struct {
	*customer

	random *rand.Rand
	name   string
}

// keeperTTL is short, so that there are many renewals.
const keeperTTL = 400 * time.Millisecond

func (k *keeper) run() {
	mutex := k.session.Mutex(k.name, &lock.MutexOptions{TTL: keeperTTL})
	for !k.isOver() {
		k.round(mutex)
	}
}

func (k *keeper) round(mutex *lock.Mutex) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	asked := history.Now()
	lease, err := mutex.Lock(ctx)
	if err != nil {
		time.Sleep(look)
		return
	}
	from := history.Now()
	good := from
	for end := from + nemesis.Between(k.random, keeperTTL*45/100, keeperTTL*51/100); ; {
		now := history.Now()
		if lease.State() >= lock.Lost {
			break
		}
		if good = now; now >= end {
			break
		}
		time.Sleep(end - now)
	}
	back := history.Now()
	err = lease.Unlock(ctx)
	k.kept.Add(1)
	if errors.Is(err, lock.ErrLost) {
		k.add(&event{
			Kind: kindKept, Name: k.name, From: from, Good: good, TTL: keeperTTL,
			Took: max(from-asked, history.Now()-back), Class: classLost,
			Text: textOf(lease.Err()),
		})
	}
}
