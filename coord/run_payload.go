package coord

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bedrock-go/bedrock/txn"
)

// payloadFor is the body of a call, with what it takes over from earlier results. That is
// at most as much as all results together may have, since one of them may be taken over
// many times. A result that is missing is an error on the way forward; on the way back,
// where nothing may be refused, the field is left out.
func payloadFor(t *txn.Transaction, s txn.Step, most int) ([]byte, error) {
	body := t.PayloadOf(s.Branch)
	use := t.Branches[s.Branch].Use
	if len(use) == 0 {
		return body, nil
	}
	object := make(map[string]json.RawMessage)
	if len(body) > 0 {
		if err := json.Unmarshal(body, &object); err != nil {
			return nil, fmt.Errorf("payload is not a JSON object: %w", err)
		}
	}
	earlier := results{t: t, left: most, most: most, objects: make(map[string]map[string]json.RawMessage)}
	for _, name := range slices.Sorted(maps.Keys(use)) {
		value, err := earlier.takeValue(use[name])
		switch {
		case err == nil:
			object[name] = value
		case s.Phase == txn.PhaseDo && !usesOwnResult(t, s.Branch, use[name]):
			return nil, fmt.Errorf("use %s: %w", name, err)
		}
	}
	return json.Marshal(object)
}

// usesOwnResult reports whether a branch uses its own result, which it has only afterwards.
func usesOwnResult(t *txn.Transaction, i int, from string) bool {
	branch, _ := txn.SplitUse(from)
	return branch == t.Branches[i].ID
}
