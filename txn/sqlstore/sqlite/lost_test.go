package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

var errDisk = errors.New("input/output error")

// unflushed is a log on a disk that a test answers for.
type unflushed struct {
	*os.File
	sync func() error
}

func (u unflushed) Sync() error { return u.sync() }

// openUnflushed opens a store whose log is flushed as a test says.
func openUnflushed(t *testing.T, sync func() error) (path string, s *sqlstore.Store) {
	t.Helper()
	path, err := create(filepath.Join(t.TempDir(), "bedrock.db"))
	if err != nil {
		t.Fatal(err)
	}
	d, db, err := databases(t.Context(), path, (*Options)(nil).filled())
	if err != nil {
		t.Fatal(err)
	}
	s, err = sqlstore.Open(t.Context(), d, db, &sqlstore.Options{Writers: 1})
	if err != nil {
		t.Fatal(err)
	}
	d.log.log = unflushed{d.log.log.(*os.File), sync}
	return path, s
}

// TestLostLogIsCopiedAtClose: what the log has lost must not get into the file, whose
// pages the rest of the log would be put over when it is read again.
func TestLostLogIsCopiedAtClose(t *testing.T) {
	path, s := openUnflushed(t, func() error { return errDisk })
	if err := s.Create(t.Context(), newRecord()); !errors.Is(err, errDisk) {
		t.Errorf("create: %v, want %v", err, errDisk)
	}
	file, log := content(t, path), content(t, path+"-wal")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(content(t, path), file) {
		t.Error("the log was copied into the file")
	}
	if !bytes.Equal(content(t, path+"-wal"), log) {
		t.Error("the log was changed")
	}
	if s, err := Open(t.Context(), path, nil); err != nil {
		t.Errorf("open again: %v", err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestLogIsCopiedBeforeItIsOnTheDisk: while it is not known whether a flush succeeds,
// nothing that it is about may get into the file.
func TestLogIsCopiedBeforeItIsOnTheDisk(t *testing.T) {
	const rows, row = 300, 100_000 // nearly twice as long as the log gets before it is copied
	answer := make(chan struct{})
	path, s := openUnflushed(t, func() error {
		<-answer
		return errDisk
	})
	file := size(t, path)
	created := make(chan error, rows)
	for n := range rows {
		go func() {
			rec := newRecord()
			rec.ID, rec.Spec = fmt.Sprint(n), make([]byte, row)
			created <- s.Create(context.Background(), rec)
		}()
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for size(t, path+"-wal") < longLog*4096 && !t.Failed() {
		<-tick.C
		if len(created) > 0 {
			t.Errorf("written before the log was flushed: %v", <-created)
		}
	}
	for until := time.Now().Add(time.Second / 2); time.Now().Before(until) && size(t, path) == file; {
		<-tick.C // what is not to happen has some time for it
	}
	close(answer)
	for range rows {
		if err := <-created; !errors.Is(err, errDisk) {
			t.Errorf("create: %v, want %v", err, errDisk)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := size(t, path); got != file {
		t.Errorf("the log was copied into the file, which had %d bytes and has %d", file, got)
	}
}

// TestDeadOwnersLogIsTakenForFlushed: what is read from a file that is opened again was
// perhaps never flushed, or the disk has refused it.
func TestDeadOwnersLogIsTakenForFlushed(t *testing.T) {
	path, s := openUnflushed(t, func() error { return nil })
	rec := newRecord()
	rec.Owner = ""
	if err := s.Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(t.TempDir(), "left.db") // as it would be if the process died now
	for _, suffix := range []string{"", "-wal"} {
		if err := os.WriteFile(left+suffix, content(t, path+suffix), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(left+"-wal", past, past); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), left, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(left + "-wal"); err != nil || !info.ModTime().After(past.Add(time.Minute)) {
		t.Errorf("the log was not written again: %v", err)
	}
	if _, err := again.Load(t.Context(), rec.ID); err != nil {
		t.Error(err)
	}
	if err := errors.Join(again.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// TestLogGrowsWhileRecordsAreDeleted, though nothing else is written.
func TestLogGrowsWhileRecordsAreDeleted(t *testing.T) {
	const rows, row = 4000, 12_000
	path, s := openUnflushed(t, func() error { return nil })
	refs, created := make([]driver.Ref, rows), make(chan error, rows)
	for n := range rows {
		rec := newRecord()
		rec.ID, rec.Status, rec.Spec = fmt.Sprint(n), driver.Committed, make([]byte, row)
		refs[n] = driver.Ref{ID: rec.ID, Version: rec.Version()}
		refs[n].Revision = 1
		go func() { created <- s.Create(context.Background(), rec) }()
	}
	for range rows {
		if err := <-created; err != nil {
			t.Fatal(err)
		}
	}
	before := size(t, path+"-wal")
	if n, err := s.Delete(t.Context(), refs); n != rows || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}
	if after := size(t, path+"-wal"); after > before+longLog*4096 {
		t.Errorf("the log had %d bytes before %d records were deleted, and has %d", before, rows, after)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return all
}
