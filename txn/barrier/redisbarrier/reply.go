package redisbarrier

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// reply is what the script has said.
type reply struct {
	verdict string
	result  []byte // nil: there is none
}

func parse(answer redisconn.Reply) (reply, error) {
	if answer.Len() == 0 {
		return reply{}, errors.New("script said nothing")
	}
	r := reply{verdict: answer.At(0).Str}
	if answer.Len() > 1 {
		if text, ok := strings.CutPrefix(answer.At(1).Str, "+"); ok {
			r.result = []byte(text)
		}
	}
	return r, nil
}

// skipped reports whether the call was answered without its work.
func (r reply) skipped() bool {
	switch r.verdict {
	case "duplicate", "empty", "refused", "hanging":
		return true
	default:
		return false
	}
}

// forCoordinator is what the coordinator is told.
func (r reply) forCoordinator(call txn.Call) ([]byte, barrier.Verdict, error) {
	switch r.verdict {
	case "ran":
		return r.result, barrier.Ran, nil
	case "duplicate":
		return r.result, barrier.Duplicate, nil
	case "empty":
		return nil, barrier.EmptyCompensation, nil
	case "refuses", "refused": // now, or earlier
		return nil, barrier.Refused, txn.Abort(errors.New(string(r.result)))
	case "hanging":
		return nil, barrier.Hanging, txn.Abort(fmt.Errorf("%s: %w", name(call), barrier.ErrHanging))
	case "half":
		return nil, barrier.Undecided, fmt.Errorf("redisbarrier: %s: %w: %s", name(call), ErrHalfDone, r.result)
	default:
		return nil, barrier.Undecided, fmt.Errorf("redisbarrier: %s: script: %s", name(call), r.result)
	}
}
