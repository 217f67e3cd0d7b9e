package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// bell says when somebody has written to the file of releases.
type bell interface {
	// Wait returns when the file has been written to since the last call, or the bell was closed.
	Wait() error
	Close() error
}

const (
	// longestRing is how large the file of releases gets before it begins anew.
	longestRing = 64 << 10
	// lookEvery is how often who waits looks for processes that have died, and restsEvery how often for a release that
	// nobody has told of: its process was stopped in between.
	lookEvery  = 200 * time.Millisecond
	restsEvery = 5
)

// bellPath is the file of releases: eight bytes for each.
func (f *file) bellPath() string { return f.path + "-wake" }

// tellWoken tells all processes of releases. They are written already: who misses a word of it looks in a moment.
func (f *file) tellWoken(states []*ledger.State) {
	var text []byte
	for _, s := range states {
		if s.Wakes.All {
			text = binary.LittleEndian.AppendUint64(text, f.keyOf(s.Name, ""))
		}
		if s.Wakes.Turn != "" {
			text = binary.LittleEndian.AppendUint64(text, f.keyOf(s.Name, s.Wakes.Turn))
		}
	}
	if len(text) == 0 {
		return
	}
	ring, err := openCompanion(f.path, f.bellPath(), os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return
	}
	defer ring.Close()
	if info, err := ring.Stat(); err == nil && info.Size() > longestRing {
		_ = ring.Truncate(0) // who has not read it yet sees that, and has all ask
	}
	_, _ = ring.Write(text) // a disk that is full wakes nobody
}

// listenForReleases tells the watches of this process what is written to the file of releases from a place on, until
// the bell is closed.
func (h *hub) listenForReleases(b bell, ring *os.File, at int64) {
	defer ring.Close()
	buf := make([]byte, 4096)
	for b.Wait() == nil {
		var err error
		if at, err = h.readRing(ring, at, buf); err != nil {
			return
		}
	}
}

// readRing tells of what is new since it was read up to a place.
func (h *hub) readRing(ring *os.File, at int64, buf []byte) (int64, error) {
	info, err := ring.Stat()
	if err != nil {
		return at, err
	}
	if info.Size() < at { // it has begun anew
		h.signalAll()
		return info.Size() &^ 7, nil
	}
	for {
		n, err := ring.ReadAt(buf, at)
		n &^= 7 // the rest of a key is read when it is whole
		for key := range slices.Chunk(buf[:n], 8) {
			h.signalKey(binary.LittleEndian.Uint64(key))
		}
		at += int64(n)
		if err != nil && !errors.Is(err, io.EOF) {
			return at, err
		}
		if n < len(buf) { // that was all
			return at, nil
		}
	}
}

// lookAround looks from time to time for what nobody tells of, as long as somebody of this process waits. last is when
// somebody had changed a lock before.
func (h *hub) lookAround(last time.Time) {
	for n := 1; sleep.For(h.file.life, lookEvery); n++ {
		if !h.isWatched() {
			continue
		}
		h.file.freeDead(h.file.life)
		if n%restsEvery != 0 {
			continue
		}
		if !h.hearsTheFile() {
			_ = h.listenAnew() // else in a moment
		}
		if now := h.lastWritten(); !now.Equal(last) {
			last = now
			h.signalAll()
		}
	}
}

// lastWritten is when somebody has changed a lock.
func (h *hub) lastWritten() time.Time {
	info, err := os.Stat(h.file.path + "-wal")
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (h *hub) close() error {
	h.mu.Lock()
	b := h.overhear
	h.overhear = nil
	h.mu.Unlock()
	var err error
	if b != nil {
		err = b.Close()
	}
	h.work.Wait()
	return err
}

// startListening begins to listen if nobody does so yet. h.mu is held.
func (h *hub) startListening() error {
	if h.listens {
		return nil
	}
	if err := h.listenToFile(); err != nil {
		return err
	}
	last := h.lastWritten()
	h.listens = true
	h.work.Go(func() { h.lookAround(last) })
	return nil
}

// listenToFile begins to listen to the file of releases that is there. h.mu is held.
func (h *hub) listenToFile() error {
	if h.file.life.Err() != nil {
		return errors.New("closed")
	}
	ring, err := openCompanion(h.file.path, h.file.bellPath(), os.O_RDWR)
	if err != nil {
		return err
	}
	b, err := newBell(h.file.bellPath())
	if err != nil {
		return errors.Join(err, ring.Close())
	}
	info, err := ring.Stat() // what is written from now on is told
	if err != nil {
		return errors.Join(err, b.Close(), ring.Close())
	}
	h.overhear, h.heard = b, identity{info}
	h.work.Go(func() { h.listenForReleases(b, ring, info.Size()) })
	return nil
}

// hearsTheFile reports whether the file of releases is the one that is listened to: somebody may have removed it.
func (h *hub) hearsTheFile() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heard.isStill(h.file.bellPath())
}

// listenAnew listens to the next file of releases, and has all ask that were told by another one.
func (h *hub) listenAnew() error {
	h.mu.Lock()
	old := h.overhear
	err := h.listenToFile()
	h.mu.Unlock()
	if err != nil {
		return err
	}
	h.signalAll()
	if old == nil {
		return nil
	}
	return old.Close()
}
