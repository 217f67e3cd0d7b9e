package coord

import (
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// modes lists the modes and the phases in which each of them calls participants.
func modes() map[txn.Mode][]txn.Phase {
	return map[txn.Mode][]txn.Phase{
		saga.Mode{}: {txn.PhaseDo, txn.PhaseUndo},
		tcc.Mode{}:  {txn.PhaseDo, txn.PhaseConfirm, txn.PhaseUndo},
		msg.Mode{}:  {txn.PhaseConfirm, txn.PhaseCheck},
	}
}

// Operations lists by mode what participants are called with, in the words that
// [txn.Call] and [Event] have for it.
func Operations() map[string][]string {
	words := make(map[string][]string)
	for mode, phases := range modes() {
		for _, phase := range phases {
			words[mode.Name()] = append(words[mode.Name()], mode.Op(phase))
			if phase != txn.PhaseCheck { // only a branch has a hook
				words[mode.Name()] = append(words[mode.Name()], hookPrefix+mode.Op(phase))
			}
		}
	}
	return words
}

// hookPrefix tells the operation that a hook is asked about from that operation itself.
const hookPrefix = "hook:"
