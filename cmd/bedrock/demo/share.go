package demo

import (
	"context"
	"fmt"
	"time"
)

const (
	shareTime = 2 * time.Second
	shareTold = 9 // turns told one by one
)

// share lets the workers raise the balance in turn. Each reads it, works, and
// writes one more: any two at once would lose an update.
func (s *show) share(ctx context.Context) error {
	s.story.title("They share the lock, a turn at a time")
	for _, w := range s.workers {
		if err := w.sendCommand(command{Do: doCount, For: shareTime}); err != nil {
			return err
		}
	}
	turns, total := make([]int, len(s.workers)), 0
	for counting := len(s.workers); counting > 0; {
		i, r, err := s.nextReport(ctx)
		if err != nil {
			return err
		}
		switch r.Event {
		case eventWritten:
			turns[i]++
			if total++; total <= shareTold {
				s.story.tellLine("%s has the lock, token %d: balance %d -> %d",
					s.workers[i].name, r.Token, r.Value-1, r.Value)
			}
		case eventCounted:
			counting--
		case eventRefused:
			return fmt.Errorf("%s was refused although it held the lock: %s", s.workers[i].name, r.Text)
		}
	}
	s.story.tellLine("... and so on, %d turns: A %d, B %d, C %d", total, turns[0], turns[1], turns[2])
	s.check(s.ledger.overlaps() == 0, "never two at once", "%d turns of 3 processes, %d overlaps",
		total, s.ledger.overlaps())
	return nil
}

// nextReport returns the next report of any worker.
func (s *show) nextReport(ctx context.Context) (worker int, r report, err error) {
	select {
	case r = <-s.workers[0].reports:
		worker = 0
	case r = <-s.workers[1].reports:
		worker = 1
	case r = <-s.workers[2].reports:
		worker = 2
	case <-ctx.Done():
		return 0, r, ctx.Err()
	}
	return worker, r, s.workers[worker].problemIn(r)
}
