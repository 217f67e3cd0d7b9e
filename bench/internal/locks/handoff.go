package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bedrock-go/bedrock/bench/internal/redisd"
	"github.com/bedrock-go/bedrock/bench/internal/stats"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// handoff is two processes that hand one lock to and fro. The times are those
// from the call of unlock in one to the return of lock in the other.
func handoff(quick bool) Workload {
	return Workload{
		Name: "handoff", Unit: "us", Lower: true, Fits: patientOrMessage,
		Stores:  subject.Stores(),
		Rounds:  either(quick, 1, 3),
		Job:     Job{Time: either(quick, 450*time.Millisecond, 2*time.Second)},
		measure: measureHandoff,
		work:    workHandoff,
	}
}

// arrival is how long a waiter is given to reach its place before the holder
// lets go. Subjects that poll get a random pause on top, as long as their
// longest poll, so that the hand-off meets them at a random moment.
const arrival = 6 * time.Millisecond

// arrivalOn is the same on a store. Where etcd has a watch from a moment that is over, as its own mutex asks for, it
// begins within a tenth of a second; who waits for longer is woken as quickly as anybody.
func arrivalOn(store subject.Store) time.Duration {
	if store == subject.Etcd {
		return 120 * time.Millisecond
	}
	return arrival
}

// leastHandoffs is how many there are at least where little is done in a second.
const leastHandoffs = 20

// instant is a reading of CLOCK_MONOTONIC, which all processes of a machine
// share.
type instant int64

func now() (instant, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0, fmt.Errorf("read clock: %w", err)
	}
	return instant(t.Nano()), nil
}

// The orders a worker gets.
const (
	orderLock   = "lock"
	orderUnlock = "unlock"
)

// workHandoff locks and unlocks when told, and says when: the moment after
// lock returned, the moment before unlock was called. Its context has a deadline
// as that of a request to a service has.
func workHandoff(ctx context.Context, job Job, w *wire) error {
	ctx, cancel := context.WithTimeout(ctx, job.Time+grace)
	defer cancel()
	locker, err := job.open(ctx)
	if err != nil {
		return err
	}
	mutex := locker.Mutex(job.Key)
	if err := errors.Join(mutex.Lock(ctx), mutex.Unlock(ctx), w.writeMessage(ready)); err != nil {
		return err
	}
	err = w.obeyAll(func(order string) (instant, error) { return obey(ctx, order, mutex) })
	return errors.Join(err, locker.Close())
}

// obeyAll carries out orders, and tells when each was, until there are no more.
func (w *wire) obeyAll(obey func(order string) (instant, error)) error {
	for {
		var order string
		if w.readMessage(&order) != nil {
			return nil
		}
		at, err := obey(order)
		if err := errors.Join(err, w.writeMessage(at)); err != nil {
			return err
		}
	}
}

// obey carries out an order.
func obey(ctx context.Context, order string, mutex subject.Mutex) (instant, error) {
	if order == orderLock {
		if err := mutex.Lock(ctx); err != nil {
			return 0, fmt.Errorf("lock: %w", err)
		}
		return now()
	}
	at, err := now()
	return at, errors.Join(err, mutex.Unlock(ctx))
}

// relay hands the lock between two workers.
type relay struct {
	holder, waiter *process
	monitor        *redisd.Monitor // nil where the server does not tell
	arrival, poll  time.Duration
	least          uint64 // hand-offs
	times          stats.Histogram
	trips          []float64
}

// measureHandoff hands the lock to and fro for the time of the job.
func measureHandoff(ctx context.Context, m measurement) (Sample, error) {
	workers, err := gather(ctx, m.job, 2)
	if err != nil {
		return nil, err
	}
	defer workers.killAll()
	r := &relay{
		holder: workers[0], waiter: workers[1], arrival: arrivalOn(m.subject.Store), poll: m.subject.Poll,
		least: leastHandoffs,
	}
	if m.subject.Store == subject.Redis {
		r.least = 2
		if r.monitor, err = redisd.Watch(ctx, m.job.Addr); err != nil {
			return nil, err
		}
		defer r.monitor.Close()
	}
	if err := r.run(ctx, m.job.Time); err != nil {
		return nil, err
	}
	sample := Sample{
		Value: micros(r.times.Percentile(0.50)),
		P50:   micros(r.times.Percentile(0.50)), P99: micros(r.times.Percentile(0.99)),
		Handoffs: float64(r.times.Total()),
	}
	if r.monitor != nil {
		sample[RoundTrips] = stats.Median(r.trips)
	}
	return sample, nil
}

// run makes hand-offs for the given time, and the least number.
func (r *relay) run(ctx context.Context, length time.Duration) error {
	if _, err := r.holder.giveOrder(orderLock); err != nil {
		return err
	}
	for end := time.Now().Add(length); time.Now().Before(end) || r.times.Total() < r.least; {
		if err := r.passOn(ctx); err != nil {
			return err
		}
		r.holder, r.waiter = r.waiter, r.holder
	}
	return nil
}

// passOn makes one hand-off. The server's counters are read before the unlock is
// ordered and after the lock has returned, never in between.
func (r *relay) passOn(ctx context.Context) error {
	if err := r.waiter.writeMessage(orderLock); err != nil {
		return r.waiter.killWith(err)
	}
	if err := sleepFor(ctx, r.arrival+rand.N(r.poll+1)); err != nil {
		return err
	}
	before, err := r.readCounters(ctx)
	if err != nil {
		return err
	}
	released, err := r.holder.giveOrder(orderUnlock)
	if err != nil {
		return err
	}
	var acquired instant
	if err := r.waiter.readMessage(&acquired); err != nil {
		return r.waiter.killWith(err)
	}
	after, err := r.readCounters(ctx)
	r.times.Add(time.Duration(acquired - released))
	r.trips = append(r.trips, float64(after.Since(before).Reads))
	return err
}

// readCounters reads those of the server, if it tells.
func (r *relay) readCounters(ctx context.Context) (redisd.Counters, error) {
	if r.monitor == nil {
		return redisd.Counters{}, nil
	}
	return r.monitor.Read(ctx)
}

// giveOrder gives p an order and returns when it was carried out.
func (p *process) giveOrder(order string) (at instant, err error) {
	if err := errors.Join(p.writeMessage(order), p.readMessage(&at)); err != nil {
		return 0, p.killWith(err)
	}
	return at, nil
}
