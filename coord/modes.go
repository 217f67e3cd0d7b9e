package coord

import (
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// Operations lists, by mode, the operations that participants are called with, as
// [txn.Call] and [Event] name them.
func Operations() map[string][]string {
	words := make(map[string][]string)
	for _, mode := range modes.All() {
		for _, phase := range mode.Phases() {
			words[mode.Name()] = append(words[mode.Name()], mode.Op(phase))
			if phase != txn.PhaseCheck { // only a branch has a hook
				words[mode.Name()] = append(words[mode.Name()], txn.HookPrefix+mode.Op(phase))
			}
		}
	}
	return words
}
