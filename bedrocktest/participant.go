package bedrocktest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant"
)

// Participant stands in for one participant or for many: it answers every call by a
// script, and knows what it was asked for. Its Func is a function to register, itself
// it is an endpoint for HTTP. Without a script all it is asked for is done.
//
// Operations are written as "BRANCH OPERATION", such as "pay action", "pay compensate"
// or "seat confirm"; a hook is asked for "pay hook:action", the producer of a message for "check". One that no mode has
// is a mistake in the test: scripts panic with it, assertions fail.
type Participant struct {
	mu      sync.Mutex
	scripts map[string]*Script
	seen    []*received
}

// received is a call and what became of it.
type received struct {
	call   txn.Call
	at     time.Time
	answer string
	did    bool // it took effect
}

// NewParticipant returns one that does all it is asked for.
func NewParticipant() *Participant { return &Participant{scripts: make(map[string]*Script)} }

// On returns the script of an operation, to be written on.
func (p *Participant) On(operation string) *Script {
	if mistake := misnamed(operation); mistake != "" {
		panic("bedrocktest: the script of an operation: " + mistake) // a mistake in the test
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.scripts[operation]
	if s == nil {
		s = &Script{}
		p.scripts[operation] = s
	}
	return s
}

// Func takes part in transactions as a [txn.Func].
func (p *Participant) Func(ctx context.Context, call txn.Call) ([]byte, error) {
	scene, now := p.receive(call)
	result, err := scene.act(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	now.answer, now.did = describeAnswer(err), scene.done
	return result, err
}

// ServeHTTP takes part in transactions as a service does.
func (p *Participant) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	participant.Handler(p.Func, nil).ServeHTTP(w, r)
}

// receive takes a call down and returns what is to happen.
func (p *Participant) receive(call txn.Call) (scene, *received) {
	now := &received{call: call, at: time.Now(), answer: "under way"}
	p.mu.Lock()
	p.seen = append(p.seen, now)
	s := p.scripts[operationOf(&call)]
	p.mu.Unlock()
	return s.nextScene(), now
}

// Calls lists all calls in the order in which they came.
func (p *Participant) Calls() []txn.Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := make([]txn.Call, len(p.seen))
	for i, s := range p.seen {
		calls[i] = s.call
	}
	return calls
}

// Called checks that the participant was called for these operations, in this order,
// and for no others: a call that is repeated is there twice.
func (p *Participant) Called(t testing.TB, want ...string) {
	t.Helper()
	p.compare(t, "called for", want, func(*received) bool { return true })
}

// Did checks that these operations took effect, in this order, and no others. A call
// whose reply was lost took effect, and does so again when it is repeated: making it
// once is what a participant's barrier is for.
func (p *Participant) Did(t testing.TB, want ...string) {
	t.Helper()
	p.compare(t, "effective", want, func(s *received) bool { return s.did })
}

// CalledOnce checks that the participant was called for each of these operations
// exactly once, in whatever order.
func (p *Participant) CalledOnce(t testing.TB, operations ...string) {
	t.Helper()
	p.checkCounts(t, operations, 1)
}

// NotCalled checks that the participant was called for none of these operations.
func (p *Participant) NotCalled(t testing.TB, operations ...string) {
	t.Helper()
	p.checkCounts(t, operations, 0)
}

func (p *Participant) compare(t testing.TB, what string, want []string, counts func(*received) bool) {
	t.Helper()
	if !wellNamed(t, want) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var got []string
	for _, s := range p.seen {
		if counts(s) {
			got = append(got, operationOf(&s.call))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %s; want %s%s", what, listed(got), listed(want), p.timeline())
	}
}

func (p *Participant) checkCounts(t testing.TB, operations []string, want int) {
	t.Helper()
	if !wellNamed(t, operations) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, operation := range operations {
		n := 0
		for _, s := range p.seen {
			if operationOf(&s.call) == operation {
				n++
			}
		}
		if n != want {
			t.Errorf("called %d times for %s, want %d%s", n, operation, want, p.timeline())
		}
	}
}

// wellNamed complains of operations for which nobody is ever called.
func wellNamed(t testing.TB, operations []string) bool {
	t.Helper()
	well := true
	for _, operation := range operations {
		if mistake := misnamed(operation); mistake != "" {
			t.Error(mistake)
			well = false
		}
	}
	return well
}

// timeline shows all calls. p.mu is held.
func (p *Participant) timeline() string {
	var rows timeline
	for _, s := range p.seen {
		rows.add(s.at, s.call.Transaction, operationOf(&s.call), fmt.Sprintf("attempt %d", s.call.Attempt), s.answer)
	}
	return rows.String()
}

func listed(operations []string) string {
	if len(operations) == 0 {
		return "nothing"
	}
	return strings.Join(operations, ", ")
}

// describeAnswer tells an answer in the words of package txn.
func describeAnswer(err error) string {
	_, pending := errors.AsType[*txn.PendingError](err)
	switch {
	case err == nil:
		return string(txn.AnswerDone)
	case txn.Aborted(err):
		return string(txn.AnswerRefused) + ": " + err.Error()
	case pending:
		return string(txn.AnswerPending)
	default:
		return string(txn.AnswerFailed) + ": " + err.Error()
	}
}
