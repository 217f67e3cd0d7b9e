package several

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
)

// Answers are those of several nodes, each as it comes.
type Answers[T any] struct {
	C     chan Answer[T]  // has room for all
	Ended <-chan struct{} // closed when all have come
}

// Answer is that of a node.
type Answer[T any] struct {
	Node  *Node
	Value T
}

// Gather asks nodes at the same time, each within the limit. It goes on when the caller has gone; last is run after
// the last answer, if it is not nil.
func Gather[T any](
	s *Stores, nodes []*Node, last func(), ask func(ctx context.Context, n *Node) T,
) Answers[T] {
	ended := make(chan struct{})
	a := Answers[T]{C: make(chan Answer[T], len(nodes)), Ended: ended}
	var left atomic.Int32
	if left.Store(int32(len(nodes))); len(nodes) == 0 {
		close(ended)
	}
	limit := s.Limit.Present(s.Now())
	for _, n := range nodes {
		s.work.Go(func() {
			a.C <- Answer[T]{n, ask(limit, n)}
			if left.Add(-1) > 0 {
				return
			}
			close(ended)
			if last != nil {
				last()
			}
		})
	}
	return a
}

// each asks all nodes, and waits for their answers, but no longer than ctx lasts; of those that are slower than least
// others, a moment, or for so long. Those that have not answered lately are asked when it is time to look whether they
// are back. It returns the answers that have come; the other calls end.
func each[T any](
	ctx context.Context, s *Stores, least int, slow time.Duration, errOf func(T) error,
	ask func(ctx context.Context, n *Node) T,
) []Answer[T] {
	began := s.Now()
	nodes := s.worthAsking(ctx)
	calls, end := context.WithCancel(s.background)
	defer end()
	answers := Gather(s, nodes, nil, func(ctx context.Context, n *Node) T {
		call := &timelimit.Context{}
		call.Begin(calls, ctx)
		defer call.End()
		value := ask(call, n)
		n.heardIn(call, errOf(value))
		return value
	})
	came := make([]Answer[T], 0, len(nodes))
	var late <-chan time.Time
	for len(came) < len(nodes) {
		select {
		case a := <-answers.C:
			came = append(came, a)
			if errOf(a.Value) == nil {
				least--
			}
		case <-late:
			return came
		case <-ctx.Done():
			return came
		}
		if least <= 0 && late == nil {
			moment := time.NewTimer(max(slow, s.Now()-began+longestMoment))
			defer moment.Stop()
			late = moment.C
		}
	}
	return came
}

// worthAsking returns the nodes to ask for what is not part of a lock: it is worth looking whether others are back.
func (s *Stores) worthAsking(ctx context.Context) (nodes []*Node) {
	if !s.rules.OnlyPings {
		return s.nodesThat((*Node).MayAsk)
	}
	s.PingInBackground()
	notAway := func(n *Node) bool { return !n.IsAway() && n.MayAsk() }
	if nodes = s.nodesThat(notAway); len(nodes) > 0 {
		return nodes
	}
	limit, enough := context.WithTimeout(ctx, s.rules.Listen)
	defer enough()
	s.PingAbsent(limit)
	return s.nodesThat(notAway)
}

func (s *Stores) nodesThat(are func(*Node) bool) (nodes []*Node) {
	for _, n := range s.Nodes {
		if are(n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// longestMoment is how long those are waited for who are late.
const longestMoment = 20 * time.Millisecond
