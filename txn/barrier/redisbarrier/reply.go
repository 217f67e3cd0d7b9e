package redisbarrier

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// reply is what the script has said.
type reply struct {
	verdict string
	result  []byte // nil: there is none
}

func parse(cmd *redis.Cmd) (reply, error) {
	words, err := cmd.StringSlice()
	if err != nil {
		return reply{}, err
	}
	if len(words) == 0 {
		return reply{}, errors.New("script said nothing")
	}
	r := reply{verdict: words[0]}
	if len(words) > 1 {
		if text, ok := strings.CutPrefix(words[1], "+"); ok {
			r.result = []byte(text)
		}
	}
	return r, nil
}

// skipped tells that the call was answered without its work.
func (r reply) skipped() bool {
	switch r.verdict {
	case "duplicate", "empty", "refused", "hanging":
		return true
	default:
		return false
	}
}

// answer is what the coordinator is told.
func (r reply) answer(call txn.Call) ([]byte, barrier.Verdict, error) {
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
