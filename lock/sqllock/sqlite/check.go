package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	lib "modernc.org/sqlite/lib"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// Check implements [driver.Checker].
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	mode, err := b.file.journalMode(ctx)
	if err != nil {
		return nil, b.Describe("check", b.file.path, err)
	}
	readOnly, busy, err := b.file.whyUnwritable(ctx)
	if err != nil {
		return nil, b.Describe("check", b.file.path, err)
	}
	found := []driver.Finding{{
		Level: driver.OK, What: "the locks are in a file of this machine",
		Means: "all processes of this machine share them, whatever container they are in; no other machine does",
	}}
	var noRoom error
	if !readOnly {
		noRoom = b.file.whyNoRoom()
	}
	switch {
	case readOnly:
		found = append(found, driver.Finding{
			Level: driver.Danger, What: "the file can only be read", Means: "nobody gets a lock",
		})
	case noRoom != nil:
		found = append(found, driver.Finding{
			Level: driver.Danger, What: "there is no room for what is written: " + noRoom.Error(),
			Means: "as soon as the file has to grow nobody gets a lock, and who has one loses it when its time is over",
		})
	case busy != nil:
		found = append(found, driver.Finding{
			Level: driver.Danger, What: busy.Error(),
			Means: "until it is done nobody gets a lock, and who has one loses it when its time is over",
		})
	}
	if mode != "wal" {
		found = append(found, driver.Finding{
			Level: driver.Warning, What: "journal_mode is " + mode + ", not wal",
			Means: "who writes keeps all others from reading, and some of them starve",
		})
	}
	if b.file.opts.Relaxed {
		found = append(found, driver.Finding{
			Level: driver.Notice, What: "Relaxed is set",
			Means: "after a loss of power the newest tokens may be given out once more",
		})
	}
	slices.SortStableFunc(found, func(a, b driver.Finding) int { return int(b.Level) - int(a.Level) })
	return found, nil
}

func (f *file) journalMode(ctx context.Context) (mode string, err error) {
	err = f.askFile(ctx, func(ctx context.Context, s *session) error {
		rows, err := s.QueryContext(ctx, "PRAGMA journal_mode")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&mode); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return mode, err
}

// whyUnwritable reports whether SQLite refuses to write the file, which lets transactions begin all the same; and by an
// error that somebody else keeps it for as long as anybody waits for it. Others write for a moment now and then.
func (f *file) whyUnwritable(ctx context.Context) (readOnly bool, busy, err error) {
	tries := false
	err = f.askFile(ctx, func(_ context.Context, s *session) error {
		err := s.execute("DELETE FROM " + f.layout.Table + " WHERE false")
		if readOnly, tries = codeOf(err)&0xff == lib.SQLITE_READONLY, isBusy(err); readOnly || tries {
			return nil
		}
		return err
	})
	if !tries || err != nil {
		return readOnly, nil, err
	}
	err = f.Write(ctx, &keeper.Step{Decide: func(*ledger.Clock, []*ledger.State) {}}) // it waits, and writes nothing
	if locked, ok := errors.AsType[*lockedError](err); ok {
		return false, locked, nil
	}
	return false, nil, err
}

// whyNoRoom returns why what is written beside the file, and in the end into it, does not get there; nil if it does.
// Without a try nobody can tell: there are quotas, and room for root alone.
func (f *file) whyNoRoom() error {
	tried, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+"-room-")
	if err != nil {
		return err
	}
	_, err = tried.Write(make([]byte, leastSpace))
	return errors.Join(err, tried.Close(), os.Remove(tried.Name()))
}
