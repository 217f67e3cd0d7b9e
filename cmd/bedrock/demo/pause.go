package demo

import "context"

// pauseHolder freezes a holder just before its write, as a long garbage collection, a
// suspended machine or a slow disk would, and lets it go on too late.
func (s *show) pauseHolder(ctx context.Context) error {
	b, c := s.workers[1], s.workers[2]
	s.story.title("A holder is paused, and comes back too late")
	held, err := b.takeLock(ctx)
	if err != nil {
		return err
	}
	s.story.tellLine("B has the lock, token %d, and has read the balance, %d", held.Token, held.Value)
	if err := b.process.Freeze(); err != nil {
		return err
	}
	s.ledger.gone(b.name)
	s.story.tellLine("B is paused (SIGSTOP) just before its write: it can neither renew nor notice anything")
	if err := b.sendCommand(command{Do: doWrite}); err != nil { // the first thing it does when it goes on
		return err
	}
	s.story.tellLine("C wants the lock and waits")
	taken, err := c.takeLock(ctx)
	if err != nil {
		return err
	}
	s.story.tellLine("C has the lock, token %d: B's lease had run out", taken.Token)
	fresh, err := s.write(ctx, c)
	if err != nil {
		return err
	}
	s.check(fresh, "the new holder can work", "C's write with token %d was accepted", taken.Token)
	b.process.Thaw()
	s.story.tellLine("B goes on (SIGCONT) where it stopped, believing that it has the lock")
	return s.late(ctx, held.Token, taken.Token)
}

// late watches the worker that woke up too late.
func (s *show) late(ctx context.Context, stale, fresh uint64) error {
	b, c := s.workers[1], s.workers[2]
	reports, err := b.awaitAll(ctx, 2, eventWritten, eventRefused, eventLost)
	if err != nil {
		return err
	}
	refused, lost := false, false
	for _, r := range reports {
		if r.Event == eventLost {
			lost = true
			s.story.tellLine("B's lease tells it: %s", r.Text)
			continue
		}
		s.tellWrite(b, r)
		refused = r.Event == eventRefused
	}
	s.check(refused, "a late write is refused", "B wrote with token %d, the resource had seen %d", stale, fresh)
	s.check(lost, "a loss is not silent", "B's lease ended with the error lost")
	return c.release(ctx)
}
