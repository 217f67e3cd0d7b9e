package sqlite

import (
	"context"
	"errors"
	"os"
	"time"
)

// turnstile puts the processes that want to write to a file in line, which SQLite does not: there, who has just written
// finds the file free most often, and the others try again and again. Who has passed the gate next is the only one to
// wait for the gate now, so that who leaves that one cannot come in again before it.
//
// It is about order alone; that one writes at a time, SQLite sees to. So who gets no turn in good time writes without
// one: somebody who is in front of it may have been stopped.
type turnstile struct{ next, now gate }

func newTurnstile(path string) turnstile {
	return turnstile{
		next: gate{database: path, path: path + "-next"}, now: gate{database: path, path: path + "-now"},
	}
}

// takeTurn waits for the turn of this process, until patience is at its end. It returns what ends the turn.
func (t *turnstile) takeTurn(ctx context.Context) (end func()) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !t.next.letIn(ctx) {
		return func() {}
	}
	defer t.next.vacate()
	if !t.now.letIn(ctx) {
		return func() {}
	}
	return t.now.vacate
}

// patience is many times what a transaction takes on a disk that is not very slow.
const patience = 100 * time.Millisecond

func (t *turnstile) close() {
	t.next.close()
	t.now.close()
}

// gate is a file that one process at a time has locked. The kernel lets them in as they have come.
type gate struct {
	database, path string

	file *os.File
	// late is closed when the kernel has answered somebody who is not there any more; nil if there is nobody like that.
	late chan struct{}
}

// letIn waits for the gate. Who has waited in vain stays in line, and does not wait again until it was let in; and it
// marks the file, so that nobody else gets into line behind somebody who was stopped.
func (g *gate) letIn(ctx context.Context) bool {
	if !canLockFiles || g.isAwaited() || !g.open() {
		return false
	}
	if locked, err := lockFile(g.file); locked || err != nil {
		clearMark(g.file)
		return locked
	}
	return !isMarked(g.file) && g.waitInLine(ctx)
}

func (g *gate) waitInLine(ctx context.Context) bool {
	entered, gone, answered := make(chan bool), make(chan struct{}), make(chan struct{})
	go func(f *os.File) {
		defer close(answered)
		locked := awaitFile(f) == nil
		clearMark(f)
		select {
		case entered <- locked:
		case <-gone:
			_ = unlockFile(f) // if it was closed meanwhile, this is done
		}
	}(g.file)
	select {
	case locked := <-entered:
		return locked
	case <-ctx.Done():
		close(gone)
		g.late = answered
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			setMark(g.file)
		}
		return false
	}
}

// A file that is not empty is marked. What fails here costs order alone.
func setMark(f *os.File) { _ = f.Truncate(1) }

func isMarked(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Size() > 0
}

func clearMark(f *os.File) {
	if isMarked(f) {
		_ = f.Truncate(0)
	}
}

func (g *gate) isAwaited() bool {
	select {
	case <-g.late:
		g.late = nil
	default:
	}
	return g.late != nil
}

func (g *gate) open() bool {
	if g.file == nil {
		f, err := openCompanion(g.database, g.path, os.O_RDWR)
		if err != nil {
			return false
		}
		g.file = f
	}
	return true
}

func (g *gate) vacate() { _ = unlockFile(g.file) } // it fails for a file that is closed alone, which has no lock

// close forgets the file; who is in line for it goes when it comes to its turn.
func (g *gate) close() {
	if g.file != nil {
		_ = g.file.Close() // nothing was written to it
	}
	g.file, g.late = nil, nil
}
