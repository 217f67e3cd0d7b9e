//go:build unix

package bank_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// atLeast is how many transfers a cell makes.
const atLeast = 500

// TestBank runs every mode on every store.
func TestBank(t *testing.T) {
	length := lengthOf(t)
	for _, store := range []string{"sqlite", "mariadb", "postgres", "redis"} {
		for _, mode := range []string{"saga", "tcc", "msg"} {
			t.Run(store+"/"+mode, func(t *testing.T) {
				t.Parallel()
				runCell(t, mode, backends()[store](t), length)
			})
		}
	}
}

// lengthOf is how long each cell is to go on at least.
func lengthOf(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("BEDROCK_BANK")
	if text == "" {
		return 0
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("BEDROCK_BANK: %v", err)
	}
	return length
}

func runCell(t *testing.T, mode string, b backend, length time.Duration) {
	t.Helper()
	c := newCell(t, mode, b)
	began := time.Now()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	all := c.traffic(ctx)
	windows := c.nemesis(length)
	healed := time.Now()
	enough, cancel := context.WithTimeout(ctx, 2*bound)
	defer cancel()
	if err := until(enough, func() bool { return c.ended.Load() >= atLeast }); err != nil {
		t.Errorf("only %d transfers", c.ended.Load())
	}
	stop()
	all.Wait()
	c.settle(healed)
	took := time.Since(began)
	records := c.audit()
	c.conclude(windows)
	c.report(windows, records, took)
}

// conclude fails if something that was planned has not happened.
func (c *cell) conclude(windows []window) {
	c.t.Helper()
	for _, f := range c.faults() {
		if !slices.ContainsFunc(windows, func(w window) bool { return w.name == f.name }) {
			c.t.Errorf("inconclusive: no %s", f.name)
		}
	}
	for letter, what := range map[byte]string{twice: "call was delivered twice", delayed: "call was delayed"} {
		if countEvidence(c.service.settings.Evidence, letter) == 0 {
			c.t.Errorf("inconclusive: no %s", what)
		}
	}
	fates := c.fates()
	for _, what := range []string{"normal committed", "poor rolled-back", "closed rolled-back"} {
		if fates[what] == 0 {
			c.t.Errorf("inconclusive: no transfer was %s", what)
		}
	}
	if fates["late rolled-back"]+fates["silent committed"]+fates["silent-no rolled-back"] == 0 {
		c.t.Error("inconclusive: no transfer ran out of time")
	}
}

// fates counts transfers by what was to become of them, and what became of them.
func (c *cell) fates() map[string]int {
	n := make(map[string]int)
	for _, t := range c.told {
		n[fmt.Sprintf("%s %s", t.transfer.Fate, t.result.Outcome)]++
	}
	return n
}

// report says what has happened.
func (c *cell) report(windows []window, records map[string]*driver.Record, took time.Duration) {
	c.t.Helper()
	faults := make(map[string]int)
	for _, w := range windows {
		faults[w.name]++
	}
	fencedWrites := 0
	for _, p := range c.replicas {
		fencedWrites += countEvidence(p.settings.Evidence, fenced)
	}
	evidence := c.service.settings.Evidence
	c.t.Logf("seed %d: %d transfers in %v: %v", c.seed, len(records), took.Round(time.Millisecond), c.fates())
	c.t.Logf("faults %v; %d calls twice, %d late; %d transactions changed hands, %d writes were fenced",
		faults, countEvidence(evidence, twice), countEvidence(evidence, delayed), c.changedHands(records), fencedWrites)
	var waits []time.Duration
	for _, t := range c.told {
		waits = append(waits, t.took)
	}
	c.t.Logf("clients waited %s", quantiles(waits))
	c.t.Logf("transactions that met a fault ended after its repair: %s", quantiles(recovery(windows, records)))
}

// changedHands counts transactions that had more than one driver. A message gets
// its second epoch with its producer's word.
func (c *cell) changedHands(records map[string]*driver.Record) int {
	var first int64 = 1
	if c.mode == "msg" {
		first = 2
	}
	n := 0
	for _, rec := range records {
		if rec.Epoch > first {
			n++
		}
	}
	return n
}

// recovery is how long after a fault was repaired the transactions that it had met
// came to their end.
func recovery(windows []window, records map[string]*driver.Record) []time.Duration {
	var took []time.Duration
	for _, rec := range records {
		if d, met := afterFault(windows, rec); met {
			took = append(took, d)
		}
	}
	return took
}

func quantiles(took []time.Duration) string {
	if len(took) == 0 {
		return "none"
	}
	slices.Sort(took)
	at := func(percent int) time.Duration {
		return took[(len(took)-1)*percent/100].Round(time.Millisecond)
	}
	return fmt.Sprintf("p50 %v, p99 %v, longest %v (%d)", at(50), at(99), at(100), len(took))
}

// afterFault is how long a transaction went on after the last fault it met.
func afterFault(windows []window, rec *driver.Record) (time.Duration, bool) {
	for _, w := range slices.Backward(windows) {
		if rec.Created.Before(w.healed) && rec.Finished.After(w.healed) {
			return rec.Finished.Sub(w.healed), true
		}
	}
	return 0, false
}
