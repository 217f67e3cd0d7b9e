// Package draft is what the builders of packages saga, tcc and msg have in common:
// a definition that is being written, part by part.
package draft

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/internal/words"
)

// Draft is a definition being written. A part is one branch, or the branches of
// another draft put in as one. What is wrong is kept until Definition, so that
// calls can be chained.
type Draft struct {
	// Head is the definition without its branches.
	Head txn.Definition
	// words are those of the mode for fields of the definition.
	words map[string]string

	branches []txn.Branch
	// groups has, for every draft that was put in, the branches that others wait for
	// when they wait for it.
	groups map[string][]string
	// ids are those of the branches, once there are groups that could be called the same.
	ids map[string]bool
	// links is how much was waited for in drafts that were put in, each time that was written
	// out anew: once for every draft around it.
	links int
	// latest is the part that was added last.
	latest   part
	problems []error
}

// New begins a draft of a mode.
func New(mode txn.Mode, name string) Draft {
	return Draft{Head: txn.Definition{Mode: mode.Name(), Name: name}, words: mode.Fields()}
}

// part is a range of branches.
type part struct {
	id       string
	from, to int
	entries  []int // those that wait for nobody in the same part
}

// Add adds a branch.
func (d *Draft) Add(b txn.Branch) {
	if d.grouped(b.ID) {
		d.Refuse("branches", "two parts are called "+b.ID)
	}
	i := len(d.branches)
	d.addBranch(b)
	d.latest = part{id: b.ID, from: i, to: i + 1, entries: []int{i}}
}

func (d *Draft) addBranch(b txn.Branch) {
	d.branches = append(d.branches, b)
	if d.ids != nil {
		d.ids[b.ID] = true
	}
}

// Latest is the ID of the latest part; empty if there is none.
func (d *Draft) Latest() string { return d.latest.id }

// Empty reports whether there are no branches.
func (d *Draft) Empty() bool { return len(d.branches) == 0 }

// After makes the latest part wait for others instead of whatever it waited for.
func (d *Draft) After(ids ...string) {
	if !d.hasPart("after") {
		return
	}
	for _, i := range d.latest.entries {
		d.branches[i].After = slices.Clone(ids)
	}
}

// Payload gives the branches of the latest part a payload, unless they have one.
func (d *Draft) Payload(v any) {
	if !d.hasPart("payload") {
		return
	}
	payload, err := txn.Encode(v)
	if err != nil {
		d.Refuse(fmt.Sprintf("branches[%d].payload", d.latest.from), err.Error())
		return
	}
	d.each(func(b *txn.Branch) {
		if b.Payload == nil {
			b.Payload = payload
		}
	})
}

// Use puts a field of an earlier result into the payloads of the latest part.
func (d *Draft) Use(field, from string) {
	if !d.hasPart("use") {
		return
	}
	d.each(func(b *txn.Branch) {
		if b.Use == nil {
			b.Use = make(map[string]string)
		}
		if _, inner := b.Use[field]; !inner {
			b.Use[field] = from
		}
	})
}

// Policy says how the branches of the latest part are called, unless they say so
// themselves.
func (d *Draft) Policy(p txn.Policy) {
	if !d.hasPart("policy") {
		return
	}
	d.each(func(b *txn.Branch) {
		if b.Policy == nil {
			b.Policy = &p
		}
	})
}

// Header adds a header to all calls.
func (d *Draft) Header(name, value string) {
	if d.Head.Headers == nil {
		d.Head.Headers = make(map[string]string)
	}
	d.Head.Headers[name] = value
}

// Refuse keeps a problem for Definition.
func (d *Draft) Refuse(field, problem string) {
	d.problems = append(d.problems, &txn.InvalidError{Field: words.Rename(field, d.words), Problem: problem})
}

// InWords is an error in the words of the draft's mode.
func (d *Draft) InWords(err error) error { return words.Error(err, d.words) }

// hasPart reports whether there is a part to speak of.
func (d *Draft) hasPart(field string) bool {
	if d.Empty() {
		d.Refuse(field, "comes before there is anything it could belong to")
	}
	return !d.Empty()
}

func (d *Draft) each(change func(b *txn.Branch)) {
	for i := d.latest.from; i < d.latest.to; i++ {
		change(&d.branches[i])
	}
}

// WithID copies the draft under another ID. Neither sees what is added to the other.
func (d *Draft) WithID(id string) Draft {
	c := *d
	c.Head = d.Head.Clone()
	c.Head.ID = id
	c.branches = clones(d.branches)
	c.groups, c.ids = maps.Clone(d.groups), maps.Clone(d.ids)
	c.problems = slices.Clip(d.problems)
	return c
}

func clones(branches []txn.Branch) []txn.Branch {
	all := slices.Clone(branches)
	for i := range all {
		all[i] = all[i].Clone()
	}
	return all
}

// Definition is what was written, with a payload for all branches that have none
// of their own. It may be called at any time, any number of times, by many
// goroutines at once, and shares nothing with the draft.
func (d *Draft) Definition(payload any) (txn.Definition, error) {
	if len(d.problems) > 0 {
		return txn.Definition{}, errors.Join(d.problems...)
	}
	def := d.Head.Clone()
	var err error
	if def.Payload, err = txn.Encode(payload); err != nil {
		return txn.Definition{}, &txn.InvalidError{Field: "payload", Problem: err.Error()}
	}
	if def.Branches, _, err = d.resolved(); err != nil {
		return txn.Definition{}, d.InWords(err)
	}
	return def, nil
}

// Submit hands over what was written, and returns its ID.
func (d *Draft) Submit(ctx context.Context, co txn.Coordinator, payload any) (string, error) {
	def, err := d.Definition(payload)
	if err != nil {
		return "", err
	}
	id, err := co.Submit(ctx, def)
	return id, d.InWords(err)
}

// Run hands over what was written, and waits for its outcome.
func (d *Draft) Run(ctx context.Context, co txn.Coordinator, payload any) (txn.Result, error) {
	def, err := d.Definition(payload)
	if err != nil {
		return txn.Result{}, err
	}
	res, err := co.Run(ctx, def)
	told := d.InWords(err)
	if err != nil && res.Reason == err.Error() { // it was refused
		res.Reason = told.Error()
	}
	return res, told
}
