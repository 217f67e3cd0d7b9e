package txn

import (
	"bytes"
	"maps"
	"slices"
)

// Clone copies the definition with all that it refers to. Whoever keeps one beyond
// the call that brought it needs a copy: its caller may use the memory again.
func (d *Definition) Clone() Definition {
	c := *d
	c.Payload = bytes.Clone(d.Payload)
	c.Branches = slices.Clone(d.Branches)
	for i := range c.Branches {
		c.Branches[i] = c.Branches[i].Clone()
	}
	if d.Check != nil {
		check := *d.Check
		check.Policy = clonePolicy(check.Policy)
		c.Check = &check
	}
	c.Headers = maps.Clone(d.Headers)
	return c
}

// Clone copies the branch with all that it refers to.
func (b *Branch) Clone() Branch {
	c := *b
	c.After = slices.Clone(b.After)
	c.Payload = bytes.Clone(b.Payload)
	c.Use = maps.Clone(b.Use)
	c.Policy = clonePolicy(b.Policy)
	return c
}

// Clone copies the transaction with all that it refers to.
func (t *Transaction) Clone() *Transaction {
	c := *t
	c.graph = nil // made anew when it is asked for
	c.Definition = t.Definition.Clone()
	c.Progress = slices.Clone(t.Progress)
	for i := range c.Progress {
		p := &c.Progress[i]
		for _, op := range [...]*Op{&p.Do, &p.Confirm, &p.Undo, &p.Hook} {
			op.Result = bytes.Clone(op.Result)
		}
	}
	c.Checked.Result = bytes.Clone(t.Checked.Result)
	c.Attempts = slices.Clone(t.Attempts)
	return &c
}

func clonePolicy(p *Policy) *Policy {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
