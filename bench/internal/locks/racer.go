package locks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// farewell is how long an unlock may take after the race is over.
const farewell = 5 * time.Second

// racer is one goroutine of a storm.
type racer struct {
	mutex  subject.Mutex
	others []subject.Mutex // that it may have instead, another one each time
	reader subject.Mutex   // the same to read, nil where nobody can
	reads  int             // of a hundred
	many   bool            // that have the mutex may be inside
	hold   time.Duration
	pairs  bool

	room       *room
	count      int64
	violations int64
	times      stats.Histogram
}

// run locks and unlocks until end. Every racer has contexts of its own, as
// every request of a service has: a shared one would make all of them queue
// for its mutex.
func (r *racer) run(end time.Time) error {
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	last, cancelLast := context.WithDeadline(context.Background(), end.Add(farewell))
	defer cancelLast()
	for {
		began := time.Now()
		if !began.Before(end) {
			return nil
		}
		mutex, alone := r.chooseSide()
		if err := mutex.Lock(ctx); err != nil {
			return r.gaveUp(ctx, began, err)
		}
		waited := time.Since(began)
		r.stay(alone)
		if err := mutex.Unlock(last); err != nil {
			return fmt.Errorf("unlock: %w", err)
		}
		r.addTime(began, waited)
	}
}

// gaveUp counts a wait the end of the race cut short: leaving it out would
// flatter those that starve their waiters. A client may look at the clock itself,
// and be earlier than its context.
func (r *racer) gaveUp(ctx context.Context, began time.Time, err error) error {
	if end, _ := ctx.Deadline(); ctx.Err() == nil && time.Now().Before(end) {
		return fmt.Errorf("lock: %w", err)
	}
	r.times.Add(time.Since(began))
	return nil
}

// chooseSide returns what to lock this time, and whether nobody else may have it meanwhile.
func (r *racer) chooseSide() (mutex subject.Mutex, alone bool) {
	if r.reader != nil && rand.IntN(100) < r.reads {
		return r.reader, false
	}
	if len(r.others) > 0 {
		return r.others[rand.IntN(len(r.others))], !r.many
	}
	return r.mutex, !r.many
}

// stay holds the lock and checks that nobody is inside who may not be.
func (r *racer) stay(alone bool) {
	if !r.room.comeIn(alone) {
		r.violations++
	}
	if r.hold > 0 {
		time.Sleep(r.hold)
	}
	r.room.goOut(alone)
}

// addTime counts an acquisition.
func (r *racer) addTime(began time.Time, waited time.Duration) {
	r.count++
	if r.pairs {
		waited = time.Since(began)
	}
	r.times.Add(waited)
}
