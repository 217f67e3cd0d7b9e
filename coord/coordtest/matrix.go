package coordtest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Config says where a matrix runs.
type Config struct {
	// Open makes an empty store. Runs that share a store follow one another.
	Open func(t testing.TB) driver.Store
	// Timing is how fast things go.
	Timing Timing
	// Each wraps every run, for instance in a bubble of virtual time. Default: none.
	Each func(t *testing.T, run func(t *testing.T))
	// Workers is how many runs go on side by side, each on a store of its own.
	// Default 1.
	Workers int
	// Successors lists who goes on. Default: both ways.
	Successors []Successor
	// Sample takes only every nth run; the coverage of methods and faults is checked
	// all the same. Default 1: all of them.
	Sample int
}

// Real is the timing of a matrix on a real store.
func Real() Timing {
	return Timing{
		Lease: 150 * time.Millisecond, Poll: 10 * time.Millisecond, Backoff: 5 * time.Millisecond,
		Call: 100 * time.Millisecond, Timeout: 250 * time.Millisecond, Check: 50 * time.Millisecond,
		Settle: 20 * time.Second,
	}
}

// Virtual is the timing of a matrix in virtual time: that of production.
func Virtual() Timing {
	return Timing{
		Lease: 5 * time.Second, Poll: 500 * time.Millisecond, Backoff: 500 * time.Millisecond,
		Call: 10 * time.Second, Timeout: 30 * time.Second, Check: 10 * time.Second, Settle: 10 * time.Minute,
	}
}

// cell is one run of the matrix.
type cell struct {
	script    script
	faults    map[Point]Fault
	successor Successor
}

func (c cell) String() string {
	var faults []string
	for p, f := range c.faults {
		faults = append(faults, fmt.Sprintf("%s at %s", f, p))
	}
	slices.Sort(faults)
	return fmt.Sprintf("%s; %s; %s", c.script.name, strings.Join(faults, ", "), c.successor)
}

// Matrix runs every script with every single fault at every call.
func Matrix(t *testing.T, cfg Config) {
	m := newMatrix(t, cfg)
	m.runAll(m.singles())
	m.coverage(t)
	t.Logf("%d runs; the slowest ended %v after its client's last word", m.runs, m.slowest)
}

// Doubles runs n pairs of faults, drawn by a seed.
func Doubles(t *testing.T, cfg Config, n int, seed uint64) {
	m := newMatrix(t, cfg)
	singles := m.singles()
	random := rand.New(rand.NewPCG(seed, 0))
	var cells []cell
	for len(cells) < n {
		one, other := singles[random.IntN(len(singles))], singles[random.IntN(len(singles))]
		if one.script.name != other.script.name {
			continue
		}
		faults := maps.Clone(one.faults)
		maps.Copy(faults, other.faults)
		cells = append(cells, cell{one.script, faults, one.successor})
	}
	m.runAll(cells)
	t.Logf("%d runs with seed %d; the slowest ended %v after its client's last word", m.runs, seed, m.slowest)
}

// singles lists all cells with one fault.
func (m *matrix) singles() []cell {
	var cells []cell
	for _, s := range scripts() {
		cells = append(cells, m.cells(s)...)
	}
	return cells
}

type matrix struct {
	t   *testing.T
	cfg Config

	mu      sync.Mutex
	runs    int
	hit     map[string]map[Fault]bool
	slowest time.Duration
}

func newMatrix(t *testing.T, cfg Config) *matrix {
	if cfg.Each == nil {
		cfg.Each = func(t *testing.T, run func(*testing.T)) { run(t) }
	}
	if cfg.Workers == 0 {
		cfg.Workers = 1
	}
	if cfg.Sample == 0 {
		cfg.Sample = 1
	}
	if cfg.Successors == nil {
		cfg.Successors = []Successor{Standby, Restart}
	}
	return &matrix{t: t, cfg: cfg, hit: make(map[string]map[Fault]bool)}
}

// most bounds how many calls of one kind are broken in a run: claims, and the
// questions of a waiting client, go on as long as it lasts.
const most = 5

// cells lists all single faults of a script, from what a run without faults calls.
func (m *matrix) cells(s script) []cell {
	counts := m.measure(s)
	var cells []cell
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		faults, n := storeFaults(), min(counts[kind], most)
		if strings.HasPrefix(kind, "call ") {
			faults = callFaults()
		}
		for i := range n {
			for _, f := range faults {
				for _, who := range m.successors(s) {
					cells = append(cells, cell{s, map[Point]Fault{{kind, i + 1}: f}, who})
				}
			}
		}
	}
	return cells
}

// successors lists who goes on after a script.
func (m *matrix) successors(s script) []Successor {
	if s.alone {
		return []Successor{Restart}
	}
	return m.cfg.Successors
}

// measure runs a script without faults.
func (m *matrix) measure(s script) map[string]int {
	var counts map[string]int
	m.t.Run("no fault/"+s.name, func(t *testing.T) {
		m.cfg.Each(t, func(t *testing.T) {
			counts = m.playCell(t, m.cfg.Open(t), cell{script: s, successor: Restart}).counts()
		})
	})
	return counts
}

func (m *matrix) runAll(cells []cell) {
	if m.cfg.Sample > 1 {
		cells = m.sample(cells)
	}
	m.t.Run("faults", func(t *testing.T) {
		if m.cfg.Workers == 1 {
			m.alone(t, cells)
			return
		}
		m.together(t, cells)
	})
}

// alone runs one cell after the other, each on a store of its own.
func (m *matrix) alone(t *testing.T, cells []cell) {
	for _, c := range cells {
		m.cfg.Each(t, func(t *testing.T) { m.playCell(t, m.cfg.Open(t), c) })
	}
}

// together runs cells side by side. They are goroutines and no parallel tests, of
// which there are only as many as processors: most of a run is waiting.
func (m *matrix) together(t *testing.T, cells []cell) {
	queue := make(chan cell)
	var workers sync.WaitGroup
	for range m.cfg.Workers {
		store := m.cfg.Open(t)
		workers.Go(func() {
			for c := range queue {
				m.playCell(t, store, c)
			}
		})
	}
	for _, c := range cells {
		queue <- c
	}
	close(queue)
	workers.Wait()
}

func (m *matrix) playCell(t *testing.T, store driver.Store, c cell) *oneRun {
	r := &oneRun{
		store: store, script: c.script, faults: c.faults, successor: c.successor,
		timing: m.cfg.Timing, id: fmt.Sprintf("run-%d", m.number()),
	}
	if err := r.playScript(context.Background()); err != nil {
		t.Errorf("%s: %v", c, err)
	}
	m.countHits(r)
	return r
}

func (m *matrix) number() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs++
	return m.runs
}

func (m *matrix) countHits(r *oneRun) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slowest = max(m.slowest, r.lasted)
	for p, f := range r.inject.hits() {
		if m.hit[p.Kind] == nil {
			m.hit[p.Kind] = make(map[Fault]bool)
		}
		m.hit[p.Kind][f] = true
	}
}

// sample thins the cells out, evenly.
func (m *matrix) sample(cells []cell) []cell {
	var some []cell
	for i := 0; i < len(cells); i += m.cfg.Sample {
		some = append(some, cells[i])
	}
	return some
}

// coverage fails if a method of the store or a kind of call was never broken in
// one of the ways.
func (m *matrix) coverage(t *testing.T) {
	for _, method := range storeMethods() {
		m.covered(t, method, storeFaults())
	}
	for _, op := range []string{"action", "compensate", "try", "confirm", "cancel", "deliver", "check"} {
		m.covered(t, "call "+op, callFaults())
	}
}

func (m *matrix) covered(t *testing.T, kind string, faults []Fault) {
	for _, f := range faults {
		if !m.hit[kind][f] {
			t.Errorf("%s was never broken by %q", kind, f)
		}
	}
}

// storeMethods lists what a coordinator asks of its store.
func storeMethods() []string {
	var names []string
	for method := range reflect.TypeFor[driver.Store]().Methods() {
		if method.Name != "Close" {
			names = append(names, method.Name)
		}
	}
	return names
}
