package locktest

import (
	"context"
	"time"
)

// limitPauses is how many pauses a limit is made of.
const limitPauses = 40

// limit is how long something may take that has just begun. On a machine that keeps pace
// it is a time. It is made of many short pauses, so that it grows on a machine that is
// late with everything: each pause is as late as each step of what is limited.
type limit struct {
	e    *env
	most time.Duration
	over chan struct{}
}

// limit begins one.
func (e *env) limit(most time.Duration) *limit {
	l := &limit{e: e, most: most, over: make(chan struct{})}
	go l.run(e.Context())
	return l
}

func (l *limit) run(ctx context.Context) {
	for range limitPauses {
		select {
		case <-time.After(l.most/limitPauses + 1):
		case <-ctx.Done():
			return
		}
	}
	close(l.over)
}

// check fails the behaviour if the limit is over.
func (l *limit) check(what string) {
	l.e.Helper()
	select {
	case <-l.over:
		l.e.Fatalf("%s took more than %s", what, l.most)
	default:
	}
}
