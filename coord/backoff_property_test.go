//go:build !race

// What is shown here takes hours of virtual time, or thousands of transactions: the race detector makes that some ten
// times as slow, and what runs is raced by all other tests.

package coord_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// The ways in which a target can be.
const (
	isWell    = "well"
	isErring  = "erring"  // every call fails
	isHanging = "hanging" // no call ends
	isPartly  = "partly"  // calls of some transactions fail
	isSlow    = "slow"    // calls of some transactions hang
	isChoking = "choking" // every third call hangs
)

// weather is how a target is for a time.
type weather struct {
	way   string
	lasts time.Duration
}

// errand is a transaction to be submitted at some time.
type errand struct {
	at     time.Duration
	steps  []int // the targets
	policy txn.Policy
}

// climate is a whole story: how targets are, until all are well, and who calls them.
type climate struct {
	replicas, perTarget int
	claims              time.Duration // how long a claim by target takes
	targets             [][]weather
	errands             []errand
}

func drawClimate(t *rapid.T) *climate {
	ms := func(least, most int, what string) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(t, what)) * time.Millisecond
	}
	c := &climate{
		replicas:  rapid.IntRange(1, 2).Draw(t, "replicas"),
		perTarget: rapid.IntRange(1, 8).Draw(t, "per target"),
		claims:    ms(0, 10, "claims take"),
	}
	for range 2 {
		var all []weather
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			way := rapid.SampledFrom([]string{isWell, isErring, isHanging, isPartly, isSlow, isChoking}).Draw(t, "way")
			all = append(all, weather{way, ms(100, 30000, "lasts")})
		}
		c.targets = append(c.targets, all)
	}
	for range rapid.IntRange(1, 150).Draw(t, "errands") {
		e := errand{at: ms(0, 20000, "at"), steps: rapid.SliceOfN(rapid.IntRange(0, 1), 1, 2).Draw(t, "steps")}
		e.policy = txn.Policy{
			Timeout: ms(50, 400, "timeout"), Backoff: ms(20, 8000, "backoff"), MaxBackoff: ms(8000, 20000, "most"),
			Attempts: rapid.SampledFrom([]int{0, 1, 2, 4, 7}).Draw(t, "attempts"),
		}
		c.errands = append(c.errands, e)
	}
	return c
}

// all is how long it takes until everything is well.
func (c *climate) all() time.Duration {
	longest := 20 * time.Second // the last errand
	for _, changes := range c.targets {
		var sum time.Duration
		for _, w := range changes {
			sum += w.lasts
		}
		longest = max(longest, sum)
	}
	return longest
}

// way is how a target is at some time.
func (c *climate) way(target int, at time.Duration) string {
	for _, w := range c.targets[target] {
		if at -= w.lasts; at < 0 {
			return w.way
		}
	}
	return isWell
}

// madeCall is a call that arrived.
type madeCall struct {
	id, branch string
	at         time.Duration
}

// world is a climate under way.
type world struct {
	*climate
	began time.Time
	store driver.Store
	ids   []string

	mu     sync.Mutex
	made   [][]madeCall       // by target
	open   map[txn.Target]int // how many replicas take it for down
	closed map[txn.Target]int // how often one of them has taken it for up again
}

// Observe hears of breakers.
func (w *world) Observe(_ context.Context, e coord.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == coord.EventBreakerOpened {
		w.open[e.Target]++
	}
	if e.Kind == coord.EventBreakerClosed {
		w.open[e.Target]--
		w.closed[e.Target]++
	}
}

// participant is one target.
func (w *world) participant(target int) txn.Func {
	calls := 0
	return func(ctx context.Context, call txn.Call) ([]byte, error) {
		w.mu.Lock()
		at := time.Since(w.began)
		w.made[target] = append(w.made[target], madeCall{call.Transaction, call.Branch, at})
		calls++
		third := calls%3 == 0
		w.mu.Unlock()
		h := fnv.New32a()
		h.Write([]byte(call.Transaction))
		some := h.Sum32()%3 == 0
		time.Sleep(time.Millisecond)
		switch way := w.way(target, at); {
		case way == isErring || way == isPartly && some:
			return nil, errBroken
		case way == isHanging || way == isSlow && some || way == isChoking && third:
			return hang(ctx, call)
		default:
			return nil, nil
		}
	}
}

// run lets the story happen, and says what was not as it should be.
func (c *climate) run(t *testing.T) string {
	w := &world{
		climate: c, began: time.Now(), store: &claims{Store: memstore.New(nil), takes: c.claims},
		made: make([][]madeCall, len(c.targets)), open: make(map[txn.Target]int), closed: make(map[txn.Target]int),
	}
	var replicas []*coord.Coordinator
	parts := []txn.Func{w.participant(0), w.participant(1)}
	for range c.replicas {
		replica := start(t, w.store, &coord.Options{
			Observer: w, PerTarget: c.perTarget,
		}, newParticipants("undo"))
		register(t, replica, "t0", parts[0])
		register(t, replica, "t1", parts[1])
		replicas = append(replicas, replica)
	}
	w.ids = make([]string, len(c.errands))
	for i, e := range c.errands {
		w.ids[i] = fmt.Sprintf("e%d", i)
		time.AfterFunc(e.at, func() { w.submit(t, replicas[i%len(replicas)], i) })
	}
	time.Sleep(c.all())
	synctest.Wait()
	waiting := w.waiting(t)
	// By then the longest pause is over, and what a replica held back for another.
	time.Sleep(20*time.Second + 30*time.Second + 10*time.Second)
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, problem := range []string{w.unfinished(t), w.late(waiting), w.tooEarly(t), w.tooMany(), w.storm()} {
		if problem != "" {
			return problem
		}
	}
	return ""
}

func (w *world) submit(t *testing.T, c *coord.Coordinator, i int) {
	d := txn.Definition{ID: w.ids[i], Mode: "saga"}
	for n, target := range w.errands[i].steps {
		b := txn.Branch{
			ID: fmt.Sprint("b", n), Do: txn.Target(fmt.Sprint("t", target)), Undo: "undo", Policy: &w.errands[i].policy,
		}
		if n > 0 {
			b.After = []string{"b0"}
		}
		d.Branches = append(d.Branches, b)
	}
	if _, err := c.Submit(t.Context(), d); err != nil {
		t.Error(err)
	}
}

// waiting lists what each transaction waits for, if that is taken for down everywhere.
func (w *world) waiting(t *testing.T) map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := make(map[string]string)
	for _, id := range w.ids {
		rec, err := w.store.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Waits != "" && w.open[txn.Target(rec.Waits)] == w.replicas {
			waiting[id] = rec.Waits
		}
	}
	return waiting
}

// unfinished: when targets are well, everything comes to its end.
func (w *world) unfinished(t *testing.T) string {
	for _, id := range w.ids {
		rec, err := w.store.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !rec.Status.Final() {
			return fmt.Sprintf("%s is %s, due in %v, waits for %q", id, rec.Status, time.Until(rec.Due), rec.Waits)
		}
	}
	return ""
}

// late: what waits for a target is called soon when that is well again.
func (w *world) late(waiting map[string]string) string {
	for id, target := range waiting {
		i, first := int(target[1]-'0'), time.Hour
		for _, call := range w.made[i] {
			if call.id == id && call.at >= w.all() {
				first = min(first, call.at-w.all())
			}
		}
		if first > 4*time.Second {
			return fmt.Sprintf("%s is well, and %s called %v later", target, id, first)
		}
	}
	return ""
}

// nominal is the pause after failure number n, less the most that is drawn.
func nominal(p txn.Policy, n int) time.Duration {
	pause := p.Backoff
	for ; n > 1 && pause < p.MaxBackoff; n-- {
		pause *= 2
	}
	return min(pause, max(p.Backoff, p.MaxBackoff)) * 3 / 4
}

// ladder is how many calls the pauses allow in a time.
func ladder(p txn.Policy, lasts time.Duration) int {
	calls := 1
	for {
		pause := nominal(p, calls)
		if lasts < pause {
			return calls
		}
		lasts -= pause
		calls++
	}
}

// tooEarly: attempts are not used up before their pauses have passed.
func (w *world) tooEarly(t *testing.T) string {
	for i, id := range w.ids {
		rec, err := w.store.Load(t.Context(), id)
		p := w.errands[i].policy
		if err != nil || rec.Status != txn.RolledBack {
			continue
		}
		var least time.Duration
		for n := 1; n < p.Attempts; n++ {
			least += nominal(p, n)
		}
		if took := rec.Finished.Sub(rec.Created); took < least {
			return fmt.Sprintf("%s had %d attempts whose pauses come to %v, and was rolled back after %v",
				id, p.Attempts, least, took)
		}
	}
	return ""
}

// perStep groups the calls to a target by what they were for.
func (w *world) perStep(target int) map[string][]time.Duration {
	steps := make(map[string][]time.Duration)
	for _, call := range w.made[target] {
		key := call.id + " " + call.branch
		steps[key] = append(steps[key], call.at)
	}
	return steps
}

// tooMany: there are no more calls than the pauses allow, and one early call for each
// of them, for each time the target was up again, and for each probe.
func (w *world) tooMany() string {
	for target := range w.targets {
		allowed := w.replicas * int(w.all()/(breakerPause*3/4))
		closed := w.closed[txn.Target(fmt.Sprint("t", target))]
		for key, calls := range w.perStep(target) {
			var i int
			if _, err := fmt.Sscanf(key, "e%d", &i); err != nil {
				return err.Error()
			}
			allowed += 2*ladder(w.errands[i].policy, calls[len(calls)-1]-calls[0]) + closed
		}
		if n := len(w.made[target]); n > allowed {
			return fmt.Sprintf("%d calls to target %d, allowed are %d", n, target, allowed)
		}
	}
	return ""
}

// breakerPause is what is between two probes, less a quarter at most.
const breakerPause = time.Second

// storm: a target that hangs is called until that is noticed, and then by probes only.
func (w *world) storm() string {
	for target, changes := range w.targets {
		var from time.Duration
		for _, weather := range changes {
			to := from + weather.lasts
			n := 0
			for _, call := range w.made[target] {
				if call.at >= from && call.at < to {
					n++
				}
			}
			probes := int(weather.lasts/(breakerPause*3/4)) + 1
			if most := w.replicas * (5 + 2*w.perTarget + probes); weather.way == isHanging && n > most {
				return fmt.Sprintf("%d calls to target %d, which hangs for %v; at most %d",
					n, target, weather.lasts, most)
			}
			from = to
		}
	}
	return ""
}

// TestBackOffMeansWhatItSays through every mix of failures: no more calls than the
// pauses allow, no attempts used up before their time, and nothing left waiting for
// targets that are well.
func TestBackOffMeansWhatItSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c, problem := drawClimate(rt), ""
		synctest.Test(t, func(t *testing.T) { problem = c.run(t) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}
