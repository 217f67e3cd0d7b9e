package draft_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/internal/scramble"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/internal/draft"
)

// written is a draft with one of everything.
func written() *draft.Draft {
	d := &draft.Draft{
		Head: txn.Definition{Mode: "saga", Name: "order", Check: &txn.Check{Policy: &txn.Policy{Attempts: 1}}},
	}
	d.Add(txn.Branch{ID: "a", Do: "f"})
	d.Add(txn.Branch{ID: "b", Do: "f"})
	d.After("a")
	d.Use("x", "a.x")
	d.Header("tenant", "one")
	return d
}

func definition(t rapid.TB, d *draft.Draft) txn.Definition {
	t.Helper()
	def, err := d.Definition(nil)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// TestWhatIsAddedToACopyIsInTheOriginal and in other copies, if they share branches.
func TestWhatIsAddedToACopyIsInTheOriginal(t *testing.T) {
	changes := map[string]func(*draft.Draft){
		"payload": func(d *draft.Draft) { d.Payload("other") },
		"policy":  func(d *draft.Draft) { d.Policy(txn.Policy{Timeout: time.Minute}) },
		"use":     func(d *draft.Draft) { d.Use("y", "a.y") },
		"after":   func(d *draft.Draft) { d.After() },
		"header":  func(d *draft.Draft) { d.Header("tenant", "two") },
		"add":     func(d *draft.Draft) { d.Add(txn.Branch{ID: "c", Do: "f"}) },
		"nest":    func(d *draft.Draft) { d.Nest("n", written()) },
		"check":   func(d *draft.Draft) { d.Head.Check.Policy.Attempts = 2 },
	}
	rapid.Check(t, func(t *rapid.T) {
		base := written()
		one, two := base.WithID("1"), base.WithID("2")
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(changes))).Draw(t, "change")
		changed := []*draft.Draft{base, &one, &two}[rapid.IntRange(0, 2).Draw(t, "of")]
		changes[name](changed)
		for id, d := range map[string]*draft.Draft{"": base, "1": &one, "2": &two} {
			want := definition(t, written())
			want.ID = id
			if diff := cmp.Diff(want, definition(t, d)); d != changed && diff != "" {
				t.Errorf("%q: %s", id, diff)
			}
		}
	})
}

// TestADefinitionSharesItsDraft, and whoever changes it changes the next one.
func TestADefinitionSharesItsDraft(t *testing.T) {
	d := written()
	d.Policy(txn.Policy{Timeout: time.Minute})
	d.Payload([]byte("own"))
	first := definition(t, d)
	want := first.Clone()
	scramble.Over(&first)
	if diff := cmp.Diff(want, definition(t, d)); diff != "" {
		t.Error(diff)
	}
}

// TestAPayloadIsReadLater, when its buffer has been used again.
func TestAPayloadIsReadLater(t *testing.T) {
	buffer := []byte(`"one"`)
	for name, payload := range map[string]any{"bytes": buffer, "JSON": json.RawMessage(buffer)} {
		copy(buffer, `"one"`)
		d := written()
		d.Payload(payload)
		copy(buffer, `"two"`)
		if got := string(definition(t, d).Branches[1].Payload); got != `"one"` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestEveryDraftAroundWritesAllLinksAnew, and a few words take seconds.
func TestEveryDraftAroundWritesAllLinksAnew(t *testing.T) {
	const wide, deep = 200, 30 // 40,000 links, which are few by themselves
	leaves := &draft.Draft{}
	for i := range wide {
		leaves.Add(txn.Branch{ID: fmt.Sprint("a", i)})
	}
	d := &draft.Draft{}
	d.Nest("p", leaves)
	for i := range wide {
		d.Add(txn.Branch{ID: fmt.Sprint("b", i)})
		d.After("p")
	}
	definition(t, d)
	for range deep {
		outer := &draft.Draft{}
		outer.Nest("n", d)
		d = outer
	}
	_, err := d.Definition(nil)
	if err == nil || !strings.Contains(err.Error(), "too many of them wait for too many others") {
		t.Error(err)
	}
}
