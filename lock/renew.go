package lock

import (
	"errors"
	"math"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/wheel"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// renewer keeps the holds of a client alive. All of them stand in one timing
// wheel driven by one timer; between its ticks nothing runs. A tick hands what
// is due to the lane of its shard, where it is renewed in batches, the lease
// closest to its end first. A shard that does not answer holds up its own lane
// only.
type renewer struct {
	client *Client

	mu     sync.Mutex
	wheel  wheel.Wheel
	timer  *time.Timer
	armed  time.Duration // when the timer fires, by the client's clock
	lanes  map[int]*lane
	due    []*wheel.Entry // reused from tick to tick
	closed bool
}

const (
	tickLength = time.Millisecond
	never      = time.Duration(math.MaxInt64)
	// longestSleep is how soon a suspend of the machine is noticed: timers
	// stand still meanwhile, so the first tick afterwards may come that late.
	longestSleep = time.Second
)

func (r *renewer) init(c *Client) {
	r.client, r.armed = c, never
	r.lanes = make(map[int]*lane)
	r.timer = time.AfterFunc(never, r.tick)
}

// add begins to watch over a hold that was granted after sent.
// It has that life until it is renewed; a short one is that of a lock that was passed on, and has begun
// a while ago.
func (r *renewer) add(h *hold, sent, life time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.renewAt(sent, life)
	if life < h.grant.TTL {
		at = h.since + (time.Duration(h.deadline.Load())-h.since)/4
	}
	if !r.closed {
		r.schedule(h, at)
	}
}

// remove forgets a hold. A renewal under way does no harm: it creates nothing.
func (r *renewer) remove(h *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wheel.Cancel(&h.timer)
}

// keepUntil records until when the backend is to keep a hold that was removed.
func (r *renewer) keepUntil(h *hold, until time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.kept = until
}

func (r *renewer) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.timer.Stop()
}

// renewAt returns when a lease confirmed after sent is renewed: a little before
// half of its life has passed, so that many taken together do not all fall due
// together; but on a grid, so that those that fall due at about the same time
// share a batch.
func (r *renewer) renewAt(sent, ttl time.Duration) time.Duration {
	at := sent + ttl/2 - r.client.draw(ttl/20+1)
	return at.Truncate(ttl / 512)
}

// retryAfter returns how long after a failed renewal the next is tried.
func (r *renewer) retryAfter(ttl time.Duration) time.Duration {
	return r.client.jitter(min(max(ttl/20, 2*time.Millisecond), time.Second))
}

// schedule looks at h again at the given time, or at its deadline if that is
// earlier or it is not renewed at all. r.mu is held.
func (r *renewer) schedule(h *hold, at time.Duration) {
	deadline := time.Duration(h.deadline.Load())
	if h.want.fixed {
		at = deadline
	}
	if at = min(at, deadline); h.end > 0 && !h.warned {
		at = min(at, h.warnAt())
	}
	r.wheel.Schedule(&h.timer, int64(at/tickLength))
	r.arm(at)
}

// arm makes the timer fire at the given time if it would fire later. r.mu is
// held.
func (r *renewer) arm(at time.Duration) {
	if at >= r.armed {
		return
	}
	now := r.client.now()
	r.armed = min(at, now+longestSleep)
	r.timer.Reset(max(r.armed-now, 0))
}

// tick looks at the holds whose time has come.
func (r *renewer) tick() {
	expired, overdue := r.advance()
	r.client.loseAll(errExpired, expired...)
	r.client.warnOverdue(overdue)
}

// advance sends what is due to its lane and returns what has run out, and what will be taken away soon.
func (r *renewer) advance() (expired, overdue []*hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil
	}
	now := r.client.now()
	r.armed = never
	r.due = r.wheel.Advance(int64(now/tickLength), r.due[:0])
	for _, e := range r.due {
		h := e.Owner.(*hold)
		if h.expired(now) {
			expired = append(expired, h)
			continue
		}
		if h.dueToWarn(now) {
			overdue = append(overdue, h)
		}
		if !h.want.fixed && !h.sending {
			r.sendToLane(h)
		}
		r.schedule(h, never)
	}
	if next, ok := r.wheel.Next(); ok {
		r.arm(time.Duration(next) * tickLength)
	}
	return expired, overdue
}

// sendToLane puts h into the lane of its shard. r.mu is held.
func (r *renewer) sendToLane(h *hold) {
	shard := 0
	if s, ok := r.client.backend.(driver.Sharder); ok {
		shard = s.Shard(h.grant.Name)
	}
	l := r.lanes[shard]
	if l == nil {
		l = &lane{renewer: r}
		r.lanes[shard] = l
		r.client.work.Add(1)
		go l.run(shard)
	}
	h.sending = true
	if h.asked == 0 {
		h.asked = r.client.now()
	}
	l.push(h)
}

// fate is what a renewal means for a lease.
type fate uint8

const (
	asBefore fate = iota
	late          // since this renewal
	taken
)

// recordRenewal records the outcome of a renewal sent at the given time, and returns what
// is to be told. r.mu is held, so nothing is told here.
func (r *renewer) recordRenewal(h *hold, sent time.Duration, err error) fate {
	h.sending = false
	if !h.timer.Scheduled() { // released meanwhile
		if h.kept > 0 && !errors.Is(err, driver.ErrLost) { // it may have made the life longer again
			r.client.work.Go(h.keepAgain)
		}
		return asBefore
	}
	switch {
	case err == nil:
		h.asked, h.trouble = 0, nil
		h.late.Store(false)
		h.confirm(sent, h.grant.TTL)
		r.schedule(h, r.renewAt(sent, h.grant.TTL))
	case errors.Is(err, driver.ErrLost):
		return taken
	default:
		if !outcome.IsContextError(err) {
			h.asked, h.trouble = 0, err
		}
		r.schedule(h, r.client.now()+r.retryAfter(h.grant.TTL))
		if !h.late.Swap(true) {
			return late
		}
	}
	return asBefore
}

// observeRenewal reports how much of the lease's life was left.
func (r *renewer) observeRenewal(h *hold, slack time.Duration) {
	if r.client.opts.Observer != nil {
		r.client.observe(r.client.background, Event{
			Kind: EventRenewed, Name: h.grant.Name, Owner: h.grant.Owner, Slack: slack,
		})
	}
}
