package redisstore

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/redisconn"
)

// group is the calls to one node that go together.
type group struct {
	lane    *batcher
	calls   []redisconn.Call
	results []redisconn.Result
	err     error // why there are no results
}

// groups are the calls to several nodes.
type groups []*group

// add puts a call about a shard where it belongs.
func (l *lanes) add(all groups, shard int, call redisconn.Call) groups {
	lane := l.of[shard].Load()
	for _, g := range all {
		if g.lane == lane {
			g.calls = append(g.calls, call)
			return all
		}
	}
	return append(all, &group{lane: lane, calls: []redisconn.Call{call}})
}

// runAll makes calls to all nodes at once. When one has answered, the others get
// grace to do so, if it is not 0: one that hangs must not hold up the rest.
func (l *lanes) runAll(ctx context.Context, all groups, grace time.Duration) {
	bounded, giveUp := context.WithCancel(ctx)
	defer giveUp()
	done := make(chan struct{}, len(all))
	for _, g := range all {
		go func() {
			g.results, g.err = g.lane.run(bounded, g.calls...)
			done <- struct{}{}
		}()
	}
	for i := range all {
		<-done
		if i == 0 && grace > 0 {
			late := time.AfterFunc(grace, giveUp)
			defer late.Stop()
		}
	}
	if err := all.firstError(); err != nil {
		l.respread(err)
	}
}

// firstError is why some node gave no answer.
func (all groups) firstError() error {
	for _, g := range all {
		if g.err != nil {
			return g.err
		}
	}
	return nil
}

// results are those of the nodes that have answered.
func (all groups) results() []redisconn.Result {
	var results []redisconn.Result
	for _, g := range all {
		results = append(results, g.results...)
	}
	return results
}
