package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	lib "modernc.org/sqlite/lib"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Check implements [driver.Checker].
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	mode, err := b.file.journalMode(ctx)
	if err != nil {
		return nil, b.Describe("check", b.file.path, err)
	}
	readOnly, err := b.file.isReadOnly(ctx)
	if err != nil {
		return nil, b.Describe("check", b.file.path, err)
	}
	found := []driver.Finding{{
		Level: driver.OK, What: "the locks are in a file of this machine",
		Means: "all processes of this machine share them, whatever container they are in; no other machine does",
	}}
	if readOnly {
		found = append(found, driver.Finding{
			Level: driver.Danger, What: "the file can only be read", Means: "nobody gets a lock",
		})
	} else if err := b.file.whyNoRoom(); err != nil {
		found = append(found, driver.Finding{
			Level: driver.Danger, What: "there is no room for what is written: " + err.Error(),
			Means: "as soon as the file has to grow nobody gets a lock, and who has one loses it when its time is over",
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

// isReadOnly reports whether SQLite refuses to write the file: it lets transactions begin all the same.
func (f *file) isReadOnly(ctx context.Context) (is bool, err error) {
	err = f.askFile(ctx, func(_ context.Context, s *session) error {
		err := s.execute("DELETE FROM " + f.layout.Table + " WHERE false")
		is = codeOf(err)&0xff == lib.SQLITE_READONLY
		if is || isBusy(err) { // who finds it busy might have written
			return nil
		}
		return err
	})
	return is, err
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
