package coord

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/txn"
)

// results are what branches have returned, for one call to take over. Thousands of its
// fields may be of one result, which is then read once.
type results struct {
	t          *txn.Transaction
	left, most int                                   // bytes
	objects    map[string]map[string]json.RawMessage // by where they are: charge, charge.card
}

// takeValue finds charge.id in the result of branch charge.
func (r *results) takeValue(from string) (json.RawMessage, error) {
	value, err := r.find(from)
	if err != nil {
		return nil, err
	}
	if r.left -= len(value); r.left < 0 {
		return nil, fmt.Errorf("takes over more than all results may have: at most %d bytes", r.most)
	}
	if !json.Valid(value) {
		branch, _ := txn.SplitUse(from)
		return nil, fmt.Errorf("result of %s is not JSON", branch)
	}
	return value, nil
}

func (r *results) find(from string) (json.RawMessage, error) {
	branch, path := txn.SplitUse(from)
	i, _ := r.t.Branch(branch)
	value := json.RawMessage(r.t.Progress[i].Do.Result)
	if len(value) == 0 {
		return nil, noResult(branch, r.t.Progress[i].Do.Note)
	}
	for at := len(branch); path != ""; {
		var field string
		field, path, _ = strings.Cut(path, ".")
		object, ok := r.object(from[:at], value)
		if !ok {
			return nil, fmt.Errorf("result of %s has no object at %q", branch, field)
		}
		if value, ok = object[field]; !ok {
			return nil, fmt.Errorf("result of %s has no field %q", branch, field)
		}
		at += len(".") + len(field)
	}
	return value, nil
}

// object decodes what is at a place, once. Something other than an object is kept as nil.
func (r *results) object(at string, value json.RawMessage) (object map[string]json.RawMessage, ok bool) {
	object, known := r.objects[at]
	if !known {
		if json.Unmarshal(value, &object) != nil {
			object = nil
		} else if object == nil {
			object = map[string]json.RawMessage{} // null
		}
		r.objects[at] = object
	}
	return object, object != nil
}

// noResult says why a branch has no result. The note of a branch that is done says why its
// result was dropped.
func noResult(branch, note string) error {
	if note != "" {
		return fmt.Errorf("branch %s: %s", branch, note)
	}
	return fmt.Errorf("branch %s returned nothing", branch)
}
