package txntest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// sharing: many claim and write at once.
func sharing() []behaviour {
	return []behaviour{
		{"RecordIsClaimedTwice", recordIsClaimedTwice},
		{"WaitingRecordIsClaimedTwice", waitingRecordIsClaimedTwice},
		{"ShardIsForgotten", shardIsForgotten},
		{"ShardsOverlap", shardsOverlap},
		{"CrowdedShardIsHeldBack", crowdedShardIsHeldBack},
		{"TargetIgnoresShards", targetIgnoresShards},
		{"WorkIsLostUnderLoad", workIsLostUnderLoad},
	}
}

// handedOut counts how often records were claimed.
type handedOut struct {
	mu     sync.Mutex
	times  map[string]int
	failed error
}

// claimAll claims until nothing is left, by eight claimants at once.
func (e *env) claimAll(c driver.Claim) *handedOut {
	h := &handedOut{times: make(map[string]int)}
	together(8, func(i int) {
		own := c
		own.Owner, own.Lease = fmt.Sprint("replica-", i), time.Hour
		for {
			claimed, err := e.seat(i).Claim(e.ctx(), own)
			if !h.add(claimed.Records, err) {
				return
			}
		}
	})
	return h
}

// add notes what was claimed, and reports whether to go on.
func (h *handedOut) add(recs []*driver.Record, err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, rec := range recs {
		h.times[rec.ID]++
	}
	if err != nil {
		h.failed = err
	}
	return err == nil && len(recs) > 0
}

// once checks that n records were handed out, each once.
func (e *env) once(h *handedOut, n int) {
	e.Helper()
	if h.failed != nil {
		e.Fatalf("claim: %v", h.failed)
	}
	for id, times := range h.times {
		if times != 1 {
			e.Fatalf("%q was claimed %d times", id, times)
		}
	}
	// Claimants that meet may leave something to the next round.
	left := e.claimDue(driver.Claim{})
	if got := len(h.times) + len(left); got != n {
		e.Fatalf("%d of %d records were claimed", got, n)
	}
}

func recordIsClaimedTwice(e *env) {
	const n = 300
	past := e.now().Add(-time.Minute)
	e.create(several("r", n, func(id string) *driver.Record { return dueAt(id, past) })...)
	e.once(e.claimAll(driver.Claim{Limit: 7}), n)
}

func waitingRecordIsClaimedTwice(e *env) {
	const n = 200
	past := e.now().Add(-time.Minute) // so that both ways lead to it
	e.create(several("r", n, func(id string) *driver.Record { return recordThatWaits(id, "pay", past) })...)
	e.once(e.claimAll(driver.Claim{Limit: 7, Target: "pay"}), n)
}

func shardIsForgotten(e *env) {
	past := e.now().Add(-time.Minute)
	recs := several("r", 200, func(id string) *driver.Record { return dueAt(id, past) })
	e.create(recs...)
	claimed := 0
	for from := 0; from < driver.Shards; from += 16 {
		claimed += len(e.claimDue(driver.Claim{From: from, To: from + 16}))
	}
	if claimed != len(recs) {
		e.Fatalf("all shards together gave %d of %d records", claimed, len(recs))
	}
}

func shardsOverlap(e *env) {
	past := e.now().Add(-time.Minute)
	e.create(several("r", 200, func(id string) *driver.Record { return dueAt(id, past) })...)
	for _, bounds := range [][2]int{{0, 1}, {1, 9}, {20, 21}, {63, 64}} {
		for _, rec := range e.claimDue(driver.Claim{From: bounds[0], To: bounds[1]}) {
			if shard := driver.Shard(rec.ID); shard < bounds[0] || shard >= bounds[1] {
				e.Fatalf("%q of shard %d was claimed with %v", rec.ID, shard, bounds)
			}
		}
	}
}

// crowdedShardIsHeldBack: what has waited longest comes first, though all of it
// is in one shard.
func crowdedShardIsHeldBack(e *env) {
	past := e.now().Add(-time.Hour)
	var crowd, rest []*driver.Record
	for i := 0; len(crowd) < 30; i++ {
		rec := dueAt(fmt.Sprint("r", i), past.Add(time.Duration(i)*time.Microsecond))
		if driver.Shard(rec.ID) == 5 {
			crowd = append(crowd, rec)
		} else if len(rest) < 60 {
			rec.Due = rec.Due.Add(time.Minute)
			rest = append(rest, rec)
		}
	}
	e.create(crowd...)
	e.create(rest...)
	e.same("the first claim", ids(e.claimDue(driver.Claim{Limit: 20})), ids(crowd[:20]))
	e.same("the second claim", ids(e.claimDue(driver.Claim{Limit: 20})), append(ids(crowd[20:]), ids(rest[:10])...))
}

func targetIgnoresShards(e *env) {
	later := e.now().Add(time.Hour)
	recs := several("r", 100, func(id string) *driver.Record { return recordThatWaits(id, "pay", later) })
	e.create(recs...)
	first := e.claimDue(driver.Claim{Target: "pay", To: 32})
	for _, rec := range first {
		if driver.Shard(rec.ID) >= 32 {
			e.Fatalf("%q of shard %d was claimed with shards below 32", rec.ID, driver.Shard(rec.ID))
		}
	}
	second := e.claimDue(driver.Claim{Target: "pay", From: 32, To: driver.Shards})
	if n := len(first) + len(second); n != len(recs) {
		e.Fatalf("both halves gave %d of %d records", n, len(recs))
	}
}

// workIsLostUnderLoad: creators and owners at work together. In the end every
// record has had one owner, who has written once.
func workIsLostUnderLoad(e *env) {
	const workers, each = 4, 40
	past := e.now().Add(-time.Minute)
	w := &work{e: e, total: workers * each}
	together(2*workers, func(i int) {
		if i < workers {
			w.addFailure(w.createRecords(e.seat(i), fmt.Sprint("w", i), each, past))
			return
		}
		w.addFailure(w.drive(e.seat(i), fmt.Sprint("replica-", i)))
	})
	if w.failed != nil {
		e.Fatal(w.failed)
	}
	recs := e.list(driver.Query{Limit: 2 * w.total, Brief: true})
	if len(recs) != w.total {
		e.Fatalf("%d records are left of %d", len(recs), w.total)
	}
	for _, rec := range recs {
		if rec.Status != driver.Committed || rec.Epoch != 1 || rec.Revision != 3 {
			e.Fatalf("%q is %s in epoch %d, revision %d; want committed, 1, 3", rec.ID, rec.Status, rec.Epoch,
				rec.Revision)
		}
	}
	e.nothingDue("all is done")
}

// work is what creators and owners have in common.
type work struct {
	e     *env
	total int

	mu     sync.Mutex
	done   int
	failed error
}

func (w *work) addFailure(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = errors.Join(w.failed, err)
}

// createRecords creates records.
func (w *work) createRecords(s driver.Store, prefix string, n int, due time.Time) error {
	for i := range n {
		if err := s.Create(w.e.ctx(), dueAt(fmt.Sprint(prefix, "-", i), due)); err != nil {
			return err
		}
	}
	return nil
}

// drive claims records and finishes them until all are done.
func (w *work) drive(s driver.Store, owner string) error {
	ctx := w.e.ctx()
	for !w.isOver() {
		claimed, err := s.Claim(ctx, driver.Claim{Owner: owner, Lease: time.Hour, Limit: 5})
		if err != nil {
			return err
		}
		for _, rec := range claimed.Records {
			rec.Status, rec.Due, rec.Finished = driver.Committed, time.Time{}, claimed.Now
			if err := s.Update(ctx, rec.Version(), rec); err != nil {
				return err
			}
			w.count()
		}
	}
	return nil
}

func (w *work) count() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
}

// isOver reports whether all is done, or somebody has failed.
func (w *work) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done >= w.total || w.failed != nil
}
