package locks

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// warmups is how many pairs each goroutine does before the clock starts, on a
// key of its own: connections are made and scripts loaded by then.
const warmups = 8

// warmth bounds the warm-up: a subject that hangs in it must not eat up the
// time of the others.
const warmth = 10 * time.Second

// tally is what a worker counted in a storm.
type tally struct {
	// Counts are the acquisitions of each goroutine.
	Counts []int64
	// Times are those asked for: waits, or whole pairs.
	Times *stats.Histogram
	// Elapsed is how long the storm took.
	Elapsed time.Duration
	// Mallocs is how many objects were allocated meanwhile.
	Mallocs uint64
	// Violations is how often a goroutine found another one inside.
	Violations int64
}

// storm is many goroutines that lock, hold and unlock as fast as they can.
type storm struct {
	// shared makes all compete for one key; otherwise each has its own.
	shared bool
	// pairs times lock and unlock together instead of the wait alone.
	pairs bool
}

// runInWorker runs the storm in a worker.
func (s storm) runInWorker(ctx context.Context, job Job, w *wire) error {
	locker, err := job.open(ctx)
	if err != nil {
		return err
	}
	racers, err := s.racers(job, locker)
	if err != nil {
		return err
	}
	if err := warm(ctx, job.Goroutines, job.Key, locker); err != nil {
		return err
	}
	if err := w.writeMessage(ready); err != nil {
		return err
	}
	if err := w.readMessage(nil); err != nil {
		return err
	}
	result, err := race(racers, job.Time)
	if err != nil {
		return err
	}
	if job.Room != "" {
		found, err := s.seekBreaches(job, locker)
		if err != nil {
			return err
		}
		result.Violations += found
	}
	if err := w.writeMessage(result); err != nil {
		return err
	}
	return locker.Close()
}

// What follows a race whose breaches are an error: for how long all compete
// again, and for how long each stays inside then. Who has a permit stays for
// longer: many have to be there before one is too many.
const (
	proofTime       = 300 * time.Millisecond
	proofStay       = 100 * time.Microsecond
	proofPermitStay = 10 * time.Millisecond
)

// seekBreaches has all compete again without counting that, and returns how
// often one was inside who should not have been. While they are measured they
// stay for some nanoseconds only: even those that no lock keeps apart would
// hardly meet.
func (s storm) seekBreaches(job Job, locker subject.Locker) (int64, error) {
	job.Hold = either(job.Permits > 0, proofPermitStay, proofStay)
	racers, err := s.racers(job, locker)
	if err != nil {
		return 0, err
	}
	proof, err := race(racers, proofTime)
	return proof.Violations, err
}

// racers makes the goroutines' stations.
func (s storm) racers(job Job, locker subject.Locker) ([]*racer, error) {
	room, err := job.openRoom()
	if err != nil {
		return nil, err
	}
	racers := make([]*racer, job.Goroutines)
	for i := range racers {
		r := &racer{reads: job.Reads, many: job.Permits > 0, hold: job.Hold, pairs: s.pairs, room: room}
		if s.shared && job.Names > 0 {
			r.room = newRoom(0)
			for n := range job.Names {
				r.others = append(r.others, locker.Mutex(job.Key+"/"+strconv.Itoa(n)))
			}
		} else if s.shared {
			r.mutex = locker.Mutex(job.Key)
		} else {
			r.room = newRoom(job.Permits)
			r.mutex = locker.Mutex(job.Key + "/" + strconv.Itoa(i))
		}
		if sides, ok := locker.(subject.ReadWriter); ok && s.shared {
			r.reader = sides.Reader(job.Key)
		}
		racers[i] = r
	}
	return racers, nil
}

// warm lets n goroutines lock keys of their own at the same time.
func warm(ctx context.Context, n int, key string, locker subject.Locker) error {
	ctx, cancel := context.WithTimeout(ctx, warmth)
	defer cancel()
	return together(n, func(i int) error {
		name := key + "/warm/" + strconv.Itoa(i)
		ways := []subject.Mutex{locker.Mutex(name)}
		if sides, ok := locker.(subject.ReadWriter); ok {
			ways = append(ways, sides.Reader(name))
		}
		for n := range warmups * len(ways) {
			if err := pair(ctx, ways[n%len(ways)], nil); err != nil {
				return fmt.Errorf("warm up: %w", err)
			}
		}
		return nil
	})
}

// race runs all racers for the given time and adds up what they did.
func race(racers []*racer, length time.Duration) (*tally, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	end := began.Add(length)
	err := together(len(racers), func(i int) error { return racers[i].run(end) })
	elapsed := time.Since(began)
	runtime.ReadMemStats(&after)

	sum := &tally{Times: new(stats.Histogram), Elapsed: elapsed, Mallocs: after.Mallocs - before.Mallocs}
	for _, r := range racers {
		sum.Counts = append(sum.Counts, r.count)
		sum.Times.Merge(&r.times)
		sum.Violations += r.violations
	}
	return sum, err
}

// together runs n goroutines and returns the first error.
func together(n int, do func(i int) error) error {
	var (
		group sync.WaitGroup
		once  sync.Once
		first error
	)
	for i := range n {
		group.Go(func() {
			if err := do(i); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	group.Wait()
	return first
}
