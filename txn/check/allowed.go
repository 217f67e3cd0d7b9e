package check

import (
	"fmt"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

// Allowed is what a mode has a use for.
type Allowed struct {
	Parallel, Recovery, Timeout, Delay, Check bool
	Do, Confirm, Undo                         bool
	// After and Use order branches, and hand results on.
	After, Use bool
	// Topic targets stand for all their subscribers.
	Topic bool
	// Compensate is a policy's answer to used up attempts.
	Compensate bool
}

// Only refuses fields that would be ignored: who sets one expects something of it.
func Only(d *txn.Definition, a Allowed) error {
	fields := []struct {
		name         string
		set, allowed bool
	}{
		{"parallel", d.Parallel != 0, a.Parallel},
		{"recovery", d.Recovery != "", a.Recovery},
		{"timeout", d.Timeout != 0, a.Timeout},
		{"delay", d.Delay != 0, a.Delay},
		{"check", d.Check != nil, a.Check},
	}
	for _, f := range fields {
		if f.set && !f.allowed {
			return input.Errorf(f.name, "has no meaning in mode %s", d.Mode)
		}
	}
	for i := range d.Branches {
		if err := onlyBranch(d, i, a); err != nil {
			return err
		}
	}
	return nil
}

func onlyBranch(d *txn.Definition, i int, a Allowed) error {
	b := &d.Branches[i]
	fields := []struct {
		name         string
		set, allowed bool
	}{
		{"do", b.Do != "", a.Do},
		{"confirm", b.Confirm != "", a.Confirm},
		{"undo", b.Undo != "", a.Undo},
		{"after", len(b.After) > 0, a.After},
		{"use", len(b.Use) > 0, a.Use},
	}
	for _, f := range fields {
		if f.set && !f.allowed {
			return input.Errorf(fmt.Sprintf("branches[%d].%s", i, f.name), "has no meaning in mode %s", d.Mode)
		}
	}
	if err := fallbackOf(b.Policy, a, d.Mode); err != nil {
		return under(fmt.Sprintf("branches[%d].policy", i), err)
	}
	if b.Do == "" && b.Confirm == "" && b.Undo == "" {
		return input.Errorf(fmt.Sprintf("branches[%d]", i), "%q calls nobody", b.ID)
	}
	if a.Topic {
		return nil
	}
	return noTopics(i, b)
}

// noTopics refuses topics where one participant is meant.
func noTopics(i int, b *txn.Branch) error {
	for _, to := range [...]txn.Target{b.Do, b.Confirm, b.Undo} {
		if _, ok := to.Topic(); ok {
			return input.Errorf(fmt.Sprintf("branches[%d]", i), "a topic has many receivers; want %s, or a message",
				clip(string(txn.Async(to))))
		}
	}
	return nil
}
