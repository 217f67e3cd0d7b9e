//go:build unix

package bank_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/participant"
)

// killLease is short, for every run waits for one to be over; and long enough for
// a victim to come to its point before.
const killLease = 700 * time.Millisecond

// TestKillPoints kills coordinators on PostgreSQL at each of their calls, one per
// run, and lets another one go on.
func TestKillPoints(t *testing.T) {
	t.Parallel()
	k := newKillings(t)
	var points []killing
	for _, s := range killScripts() {
		points = append(points, k.points(t, s)...)
	}
	began := time.Now()
	k.each(points)
	k.check(points)
	t.Logf("%d points in %v; %d runs did not come to their point and were repeated; the slowest transaction ended "+
		"%v after the kill",
		len(points), time.Since(began).Round(time.Millisecond), k.missed, k.slowest.Round(time.Millisecond))
}

// killScript is a transfer that is made again and again.
type killScript struct {
	name    string
	mode    string
	fate    fate
	outcome txn.Outcome
}

func killScripts() []killScript {
	return []killScript{
		{"saga commits", "saga", normal, txn.Committed},
		{"saga is refused", "saga", closed, txn.RolledBack},
		{"tcc commits", "tcc", normal, txn.Committed},
		{"tcc is refused", "tcc", closed, txn.RolledBack},
	}
}

// killing is one run: a script and where it is cut short.
type killing struct {
	script killScript
	at     point
}

func (k killing) String() string {
	when := "before"
	if k.at.After {
		when = "after"
	}
	return fmt.Sprintf("%s; killed %s %s %d", k.script.name, when, k.at.Kind, k.at.N)
}

// killings is the surroundings of the runs: a store, accounts, and a coordinator
// that goes on.
type killings struct {
	t        *testing.T
	url      string
	accounts *accounts.Accounts
	service  string
	store    driver.Store
	standby  *coord.Coordinator

	mu      sync.Mutex
	runs    int
	missed  int
	slowest time.Duration
	hit     map[string]bool
}

func newKillings(t *testing.T) *killings {
	t.Helper()
	k := &killings{t: t, url: onPostgres(t).url, hit: make(map[string]bool)}
	var err error
	if k.accounts, err = openAccounts(t.Context(), filepath.Join(t.TempDir(), "accounts.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.accounts.DB.Close() })
	web := httptest.NewServer(participant.Handler(participantOf(k.accounts), nil))
	t.Cleanup(web.Close)
	k.service = web.URL
	if k.store, err = openStore(t.Context(), k.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.store.Close() })
	k.startStandby()
	return k
}

func (k *killings) startStandby() {
	k.t.Helper()
	calls, err := httpcall.New(nil)
	if err != nil {
		k.t.Fatal(err)
	}
	k.standby, err = coord.New(k.store, &coord.Options{
		Replica: "standby", Lease: killLease, Poll: 20 * time.Millisecond, Callers: []txn.Caller{calls},
	})
	if err == nil {
		err = k.standby.Start(k.t.Context())
	}
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		if err := stopReplica(context.Background(), k.standby); err != nil {
			k.t.Error(err)
		}
		calls.Close()
	})
}

// points lists where a script can be cut short, from a run that is not.
func (k *killings) points(t *testing.T, s killScript) []killing {
	t.Helper()
	p, out, err := k.victim(killing{script: s}, "whole")
	if err != nil || !p.cmd.ProcessState.Success() {
		t.Fatalf("%s: %v\n%s", s.name, err, p.tail())
	}
	var counts map[string]int
	if err := json.Unmarshal(out, &counts); err != nil {
		t.Fatalf("%s: %v: %q", s.name, err, out)
	}
	const claims = 2 // they go on as long as the process lives
	var points []killing
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		n := counts[kind]
		if kind == "Claim" {
			n = claims
		}
		for i := range n {
			points = append(points, killing{s, point{kind, i + 1, false}}, killing{s, point{kind, i + 1, true}})
		}
	}
	return points
}

// victim runs a child to its end.
func (k *killings) victim(v killing, id string) (*process, []byte, error) {
	t := transfer{
		ID: strings.ReplaceAll(v.script.name, " ", "-") + "-" + id, Mode: v.script.mode, Fate: v.script.fate,
		From: 1, To: 2, Amount: 1,
	}
	p := &process{log: filepath.Join(k.t.TempDir(), t.ID+".log"), settings: settings{
		Role: "victim", Name: t.ID, Store: k.url, Service: k.service,
		Victim: victim{Transfer: t, Point: v.at, Lease: killLease},
	}}
	var out bytes.Buffer
	if err := p.launch(&out); err != nil {
		return p, nil, err
	}
	select {
	case <-p.done:
		return p, out.Bytes(), nil
	case <-time.After(2 * patience):
		return p, nil, errors.Join(errors.New("it does not end"), p.kill())
	}
}

// each runs all killings, some at once: most of a run is waiting for a lease.
func (k *killings) each(list []killing) {
	const atOnce = 6
	queue := make(chan killing)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for v := range queue {
				if err := k.kill(v); err != nil {
					k.t.Errorf("%s: %v", v, err)
				}
			}
		})
	}
	for _, v := range list {
		queue <- v
	}
	close(queue)
	workers.Wait()
}

// kill makes one run. A victim that others overtook before it came to its point is
// no evidence of anything, and the run is repeated.
func (k *killings) kill(v killing) error {
	const tries = 5
	for range tries {
		id := fmt.Sprint(k.number())
		p, _, err := k.victim(v, id)
		if err != nil {
			return err
		}
		if err := k.ending(v, p); err != nil {
			return fmt.Errorf("%w (victim: %v)\n%s", err, p.cmd.ProcessState, p.tail())
		}
		if p.killed() {
			k.enter(v)
			return nil
		}
		k.miss()
	}
	return fmt.Errorf("inconclusive: it did not come to its point in %d runs", tries)
}

// ending waits until the standby has brought the transaction to its end. One that
// was killed before it was written down does not exist, and never will.
func (k *killings) ending(v killing, p *process) error {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	began := time.Now()
	result, err := k.standby.Wait(ctx, p.settings.Name)
	neverWritten := v.at.Kind == "Create" && !v.at.After || v.at.Kind == "Claim"
	switch {
	case errors.Is(err, txn.ErrNotFound) && neverWritten:
		return nil
	case err != nil && result.Outcome != txn.RolledBack:
		return err
	case result.Outcome != v.script.outcome:
		return fmt.Errorf("%s, want %s: %s", result.Outcome, v.script.outcome, result.Reason)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.slowest = max(k.slowest, time.Since(began))
	return nil
}

func (k *killings) number() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs++
	return k.runs
}

func (k *killings) miss() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.missed++
}

func (k *killings) enter(v killing) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hit[fmt.Sprint(v.at.Kind, v.at.After)] = true
}

// check looks at the books, and that no kind of call was left out.
func (k *killings) check(points []killing) {
	k.t.Helper()
	const planned = 40
	if len(points) < planned {
		k.t.Errorf("only %d points, want %d", len(points), planned)
	}
	for _, kind := range []string{
		"Claim", "Create", "Update", "call action", "call compensate", "call try", "call confirm", "call cancel",
	} {
		for _, after := range []bool{false, true} {
			if !k.hit[fmt.Sprint(kind, after)] {
				k.t.Errorf("no coordinator was killed at %s (after: %v)", kind, after)
			}
		}
	}
	// A write that was on its way when its sender died may have arrived since.
	ctx, cancel := context.WithTimeout(k.t.Context(), bound)
	defer cancel()
	_, late := allFinal(ctx, k.store)
	records, err := readRecords(ctx, k.store)
	b := &books{records: records}
	if err := errors.Join(late, err, b.read(ctx, k.accounts)); err != nil {
		k.t.Fatal(err)
	}
	for _, complaint := range b.audit() {
		k.t.Error(complaint)
	}
}
