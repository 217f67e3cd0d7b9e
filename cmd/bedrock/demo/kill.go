package demo

import (
	"context"
	"time"
)

const (
	holdTime = leaseTTL + leaseTTL/4 // longer than a lease lives by itself
	slack    = 2 * time.Second       // what a busy machine may add to a takeover
)

// kill ends a worker that holds the lock, and lets another take over.
func (s *show) kill(ctx context.Context) error {
	a, b := s.workers[0], s.workers[1]
	s.story.title("A holder is killed")
	held, err := a.takeLock(ctx)
	if err != nil {
		return err
	}
	s.story.tellLine("A has the lock, token %d, and has read the balance, %d", held.Token, held.Value)
	if err := b.sendCommand(command{Do: doTake}); err != nil {
		return err
	}
	s.story.tellLine("B wants the lock and waits")
	early, err := b.silentFor(ctx, holdTime)
	if err != nil {
		return err
	}
	s.check(!early, "a holder that works is left alone",
		"A kept the lock for %s, longer than one lease: it was renewed", holdTime)
	a.process.Kill()
	killed := time.Now()
	s.ledger.gone(a.name)
	s.story.tellLine("A is killed (SIGKILL): it cannot release anything")
	taken, err := b.nextEvent(ctx, eventTaken)
	if err != nil {
		return err
	}
	took := time.Since(killed)
	s.story.tellLine("B has the lock, token %d, %s after the kill: A's lease had run out",
		taken.Token, took.Round(time.Millisecond))
	s.check(took <= leaseTTL+slack, "a dead holder blocks nobody for long", "B took over after %s, a lease lives %s",
		took.Round(time.Millisecond), leaseTTL)
	if _, err := s.write(ctx, b); err != nil {
		return err
	}
	return b.release(ctx)
}

// write lets a holder write, and tells what came of it.
func (s *show) write(ctx context.Context, w *worker) (accepted bool, err error) {
	if err := w.sendCommand(command{Do: doWrite}); err != nil {
		return false, err
	}
	r, err := w.nextEvent(ctx, eventWritten, eventRefused)
	if err != nil {
		return false, err
	}
	s.tellWrite(w, r)
	return r.Event == eventWritten, nil
}

func (s *show) tellWrite(w *worker, r report) {
	if r.Event == eventWritten {
		s.story.tellLine("%s writes the balance %d with token %d: accepted", w.name, r.Value, r.Token)
		return
	}
	s.story.tellLine("%s writes the balance %d with token %d: REFUSED, %s", w.name, r.Value, r.Token, r.Text)
}
