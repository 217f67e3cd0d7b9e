package coord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// narrow is a store that does not take large records.
type narrow struct {
	driver.Store
	most int
}

func (s *narrow) check(rec *driver.Record) error {
	if n := len(rec.Spec) + len(rec.State); n > s.most {
		return fmt.Errorf("%w: %d bytes", driver.ErrRefused, n)
	}
	return nil
}

func (s *narrow) Create(ctx context.Context, rec *driver.Record) error {
	if err := s.check(rec); err != nil {
		return err
	}
	return s.Store.Create(ctx, rec)
}

func (s *narrow) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	if err := s.check(rec); err != nil {
		return err
	}
	return s.Store.Update(ctx, was, rec)
}

// TestARefusedRecordIsWrittenForEver: nobody decides its transaction, and nobody learns
// why. It is parked without the results; one that is final is told without them.
func TestARefusedRecordIsWrittenForEver(t *testing.T) {
	for name, test := range map[string]struct {
		second error
		want   txn.Status
		parked bool
	}{
		"final":      {nil, txn.Committed, false},
		"in between": {errBroken, txn.Running, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, &narrow{memstore.New(nil), 4096}, nil, nil)
				register(t, c, "large", func(context.Context, txn.Call) ([]byte, error) {
					return []byte(strings.Repeat("x", 8192)), nil
				})
				register(t, c, "next", func(context.Context, txn.Call) ([]byte, error) { return nil, test.second })
				id, err := c.Submit(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{
					{ID: "a", Do: "large"}, {ID: "b", Do: "next", After: []string{"a"}},
				}})
				must(t, err)
				time.Sleep(time.Minute)
				tx := get(t, c, id)
				if tx.Status != test.want || (tx.Parked != "") != test.parked || tx.Progress[0].Do.Result != nil ||
					tx.Progress[0].Do.Note == "" {
					t.Errorf("a minute later %s, parked %q, a: %+v", tx.Status, tx.Parked, tx.Progress[0].Do)
				}
			})
		})
	}
}

// TestARefusedDefinitionIsTriedForEver until its caller gives up, and is then in doubt.
func TestARefusedDefinitionIsTriedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &narrow{memstore.New(nil), 1024}, nil, transferParts())
		d := transfer()
		d.Payload = []byte(`"` + strings.Repeat("x", 2000) + `"`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		res, err := c.Run(ctx, d)
		if _, ok := errors.AsType[*txn.InvalidError](err); !ok || res.Outcome != "" {
			t.Errorf("%+v %v", res, err)
		}
	})
}

// TestResultsAreLargeTogether, each of them within its limit.
func TestResultsAreLargeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), &coord.Options{Results: 250}, nil)
		register(t, c, "large", func(context.Context, txn.Call) ([]byte, error) { return make([]byte, 100), nil })
		d := txn.Definition{Mode: "saga"}
		for i := range 10 {
			d.Branches = append(d.Branches, txn.Branch{ID: fmt.Sprint("b", i), Do: "large"})
		}
		res, err := c.Run(t.Context(), d)
		if err != nil || len(res.Returned) != 2 {
			t.Errorf("%d results kept, want 2; %v", len(res.Returned), err)
		}
		for i, p := range get(t, c, res.ID).Progress {
			if p.Do.Result == nil && !strings.Contains(p.Do.Note, "at most 250") {
				t.Errorf("branch %d: no word of why its result is gone: %q", i, p.Do.Note)
			}
		}
	})
}

// failing is a caller that gets nowhere, and says so at length.
type failing struct{ up atomic.Bool }

func (*failing) Check(txn.Target) error { return nil }

func (*failing) Schemes() []string { return []string{"http"} }

func (f *failing) Call(context.Context, txn.Target, txn.Call) txn.Answer {
	if f.up.Load() {
		return txn.Answer{Kind: txn.AnswerDone}
	}
	return txn.Answer{Kind: txn.AnswerFailed, Note: strings.Repeat("\x00\xff no ", 4000)}
}

// TestAnAwkwardFailureIsNeverHandedOver: what a participant says, and what it is called,
// goes into columns of the record.
func TestAnAwkwardFailureIsNeverHandedOver(t *testing.T) {
	for name, target := range map[string]txn.Target{
		"short":             "http://host/path",
		"long":              txn.Target("http://host/" + strings.Repeat("x", 2000)),
		"path is no text":   "http://host/%ff%00",
		"host is no text":   "http://host%ff/",
		"long, and assured": txn.Target("async:http://host/" + strings.Repeat("x", 2000)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				caller := &failing{}
				c := start(t, memstore.New(nil), &coord.Options{Callers: []txn.Caller{caller}}, nil)
				d := func(p *txn.Policy) txn.Definition {
					return txn.Definition{Mode: "msg", Branches: []txn.Branch{{ID: "a", Confirm: target, Policy: p}}}
				}
				waits, err := c.Submit(t.Context(), d(&txn.Policy{Backoff: time.Second, MaxBackoff: time.Second}))
				must(t, err)
				parks, err := c.Submit(t.Context(), d(&txn.Policy{Attempts: 1}))
				must(t, err)
				time.Sleep(10 * time.Second)
				if tx := get(t, c, parks); tx.Status != txn.Committed && tx.Parked == "" {
					t.Errorf("%s, not parked", tx.Status)
				}
				caller.up.Store(true)
				time.Sleep(10 * time.Second)
				if tx := get(t, c, waits); tx.Status != txn.Committed {
					t.Errorf("its target is well, and it is %s", tx.Status)
				}
			})
		})
	}
}

// TestLanesOfLongTargetsMeet when their names are cut.
func TestLanesOfLongTargetsMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		c := start(t, store, &coord.Options{Callers: []txn.Caller{&failing{}}}, nil)
		seen := make(map[string]bool)
		for _, end := range []string{"a", "b"} {
			id, err := c.Submit(t.Context(), txn.Definition{Mode: "msg", Branches: []txn.Branch{{
				ID: "a", Confirm: txn.Target("http://host/" + strings.Repeat("x", 2000) + end),
				Policy: &txn.Policy{Backoff: time.Hour, MaxBackoff: time.Hour},
			}}})
			must(t, err)
			time.Sleep(time.Second)
			seen[get(t, c, id).Waits] = true
		}
		if len(seen) != 2 || seen[""] {
			t.Errorf("%d names for two targets: %v", len(seen), seen)
		}
	})
}
