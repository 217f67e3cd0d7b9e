package bedrocktest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Always is how often something happens that never stops.
const Always = math.MaxInt

// errScripted is how a participant fails that is told to.
var errScripted = errors.New("out of order, as the script says")

// Script says how a participant answers one operation, call after call. What is
// written for a number of times makes room for the next; Done and Refuse hold from then
// on, as does what happens [Always]: to write on after that is a mistake in the test, which
// panics. A script that is over means done.
type Script struct {
	mu     sync.Mutex
	scenes []scene
}

// scene is one way to answer.
type scene struct {
	times  int
	hangs  bool
	done   bool // it takes effect
	result []byte
	err    error
}

// Done answers that it is done, with a result, which is encoded by [txn.Encode].
func (s *Script) Done(result any) *Script {
	encoded, err := txn.Encode(result)
	if err != nil {
		panic("bedrocktest: the result of a script: " + err.Error()) // a mistake in the test
	}
	return s.add(scene{times: Always, done: true, result: encoded})
}

// Refuse answers with a refusal: nothing was done, and it will not be.
func (s *Script) Refuse(reason string) *Script {
	return s.add(scene{times: Always, err: txn.Abort(errors.New(reason))})
}

// Pending answers n times that it is still working, and is to be asked again after d.
func (s *Script) Pending(n int, d time.Duration) *Script {
	return s.add(scene{times: n, err: txn.Pending(d)})
}

// Fail fails n times, without an effect.
func (s *Script) Fail(n int) *Script { return s.add(scene{times: n, err: errScripted}) }

// LoseReply does n times what it is asked for, and fails all the same.
func (s *Script) LoseReply(n int) *Script {
	return s.add(scene{times: n, done: true, err: ErrReplyLost})
}

// Hang does not answer n times, until its caller has gone.
func (s *Script) Hang(n int) *Script { return s.add(scene{times: n, hangs: true}) }

func (s *Script) add(next scene) *Script {
	if next.times < 0 {
		panic(fmt.Sprintf("bedrocktest: a script cannot do anything %d times", next.times)) // a mistake in the test
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.scenes); n > 0 && s.scenes[n-1].times == Always {
		panic("bedrocktest: what is written after an answer that holds from then on is never played") // the same
	}
	s.scenes = append(s.scenes, next)
	return s
}

// nextScene is what happens to the next call. A nil script is over.
func (s *Script) nextScene() scene {
	if s == nil {
		return scene{done: true}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.scenes) > 0 {
		now := &s.scenes[0]
		switch now.times {
		case 0:
			s.scenes = s.scenes[1:]
			continue
		case Always:
		default:
			now.times--
		}
		return *now
	}
	return scene{done: true}
}

// act answers a call.
func (s *scene) act(ctx context.Context) ([]byte, error) {
	if s.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.result, s.err
}
