package check

import (
	"encoding/json"
	"fmt"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

// branchOrder checks what branches wait for and take over.
func (c *Checker) branchOrder(d *txn.Definition) error {
	for i := range d.Branches {
		if err := noRepeats(i, d.Branches[i].After); err != nil {
			return err
		}
	}
	g, err := txn.NewGraph(d.Branches)
	if err != nil {
		return err
	}
	u := users{d: d, graph: g}
	for i := range d.Branches {
		if err := u.check(i); err != nil {
			return err
		}
	}
	return nil
}

func noRepeats(i int, after []string) error {
	if len(after) < 2 {
		return nil
	}
	seen := make(map[string]bool, len(after))
	for _, id := range after {
		if seen[id] {
			return input.Errorf(fmt.Sprintf("branches[%d].after", i), "%q is there twice", clip(id))
		}
		seen[id] = true
	}
	return nil
}

// users checks what branches take over from the results of earlier ones.
type users struct {
	d        *txn.Definition
	graph    *txn.Graph
	position map[string]int
	// shared is what is known about the payload of the whole definition, which is
	// looked at once.
	shared, sharedIsObject bool
}

// check checks one branch. Its own result is for its Undo and Confirm.
func (u *users) check(i int) error {
	b := &u.d.Branches[i]
	if len(b.Use) == 0 {
		return nil
	}
	if !u.object(i) {
		return input.Errorf(fmt.Sprintf("branches[%d].payload", i),
			"must be a JSON object, because use adds fields to it")
	}
	earlier := u.graph.Ancestors(i)
	for name, from := range b.Use {
		field := fmt.Sprintf("branches[%d].use[%q]", i, clip(name))
		source, _ := txn.SplitUse(from)
		j, ok := u.find(source)
		switch {
		case name == "":
			return input.Errorf(field, "a field needs a name")
		case !ok:
			return input.Errorf(field, "there is no %q", clip(source))
		case i != j && !earlier[j]:
			return input.Errorf(field, "%q does not always come before", source)
		}
	}
	return nil
}

func (u *users) find(id string) (int, bool) {
	if u.position == nil {
		u.position = make(map[string]int, len(u.d.Branches))
		for i := range u.d.Branches {
			u.position[u.d.Branches[i].ID] = i
		}
	}
	i, ok := u.position[id]
	return i, ok
}

// object reports whether fields can be added to a branch's payload.
func (u *users) object(i int) bool {
	if own := u.d.Branches[i].Payload; own != nil {
		return isObject(own)
	}
	if !u.shared {
		u.shared, u.sharedIsObject = true, isObject(u.d.Payload)
	}
	return u.sharedIsObject
}

// isObject reports whether a payload is a JSON object; none at all counts as an empty one.
func isObject(payload []byte) bool {
	var object map[string]json.RawMessage
	return len(payload) == 0 || json.Unmarshal(payload, &object) == nil && object != nil
}
