package redisstore

import (
	"context"
	"time"
)

// group is the commands for one node that are sent together.
type group struct {
	lane     *batcher
	commands []*command
	err      error // why there are no answers; the commands are then off limits
}

// groups are the commands for several nodes.
type groups []*group

// add puts a command about a shard where it belongs.
func (l *lanes) add(all groups, shard int, c *command) groups {
	lane := l.of[shard].Load()
	for _, g := range all {
		if g.lane == lane {
			g.commands = append(g.commands, c)
			return all
		}
	}
	return append(all, &group{lane: lane, commands: []*command{c}})
}

// sendAll sends to all nodes at once. When one has answered, the others get
// grace to do so, if it is not 0: one that hangs must not hold up the rest.
func (l *lanes) sendAll(ctx context.Context, all groups, grace time.Duration) {
	bounded, giveUp := context.WithCancel(ctx)
	defer giveUp()
	done := make(chan struct{}, len(all))
	for _, g := range all {
		go func() {
			g.err = g.lane.send(bounded, g.commands...)
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
	if err := all.failed(); err != nil {
		l.look(ctx, err)
	}
}

// failed is why some node gave no answer.
func (all groups) failed() error {
	for _, g := range all {
		if g.err != nil {
			return g.err
		}
	}
	return nil
}

// answered are the commands whose nodes have answered.
func (all groups) answered() []*command {
	var commands []*command
	for _, g := range all {
		if g.err == nil {
			commands = append(commands, g.commands...)
		}
	}
	return commands
}
