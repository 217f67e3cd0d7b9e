package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

const (
	// longLog is of how many pages the log is before they are copied into the file. Pages
	// that change often are copied less often then. Where readers keep the log from
	// beginning anew it is tried again after some more.
	longLog, someMore = 4000, 1000
	// lookEvery is after how many transactions it is asked how long the log is.
	lookEvery = 8
	// largeLog is how long the log gets before reads are waited for. Commits append to it,
	// and begin anew when all of it is in the file and nobody reads from it. While reads
	// overlap that is never the case by itself, and the longer the log the slower they are.
	largeLog = 64 << 20
)

// disk is the log as a file.
type disk interface {
	io.ReaderAt
	io.WriterAt
	io.Seeker
	io.Closer
	Sync() error
}

// openLog opens the log, once: a program that has no descriptors left must not lose
// what was written for want of one. The log stays as long as a connection does. What it
// holds is on the disk then.
func openLog(ctx context.Context, path string, db *sql.DB) (disk, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil { // nobody else writes meanwhile
		return nil, err
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
	log, err := logOf(path)
	if err != nil {
		return nil, err
	}
	if err := renew(ctx, log); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

func logOf(path string) (*os.File, error) { return os.OpenFile(path+"-wal", os.O_RDWR, 0) }

// renew writes what the log holds once more, and flushes it. The process that wrote it may
// have died before it flushed, or because it could not; the system shows the content all
// the same, as if it were on the disk.
func renew(ctx context.Context, log disk) error {
	buf := make([]byte, 1<<20)
	for at := int64(0); ctx.Err() == nil; {
		n, err := log.ReadAt(buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 {
			return log.Sync()
		}
		if _, err := log.WriteAt(buf[:n], at); err != nil {
			return err
		}
		at += int64(n)
	}
	return ctx.Err()
}

// logKeeper flushes the log, and copies it into the file. SQLite would do so by itself,
// but tells nobody when the disk refuses a flush, and the next one would succeed: the
// file would then have what its log has lost.
type logKeeper struct {
	log      disk
	large    int64
	patience time.Duration // how long a write waits at most
	next     int64         // not to be tried again below this length
	again    int64         // nor what readers prevented below this number of pages
	since    int           // transactions

	mu   sync.Mutex // held by one flush after the other
	lost error      // why the first failed
}

// flush puts the log on the disk. After an error it never succeeds again: a disk may forget
// what it has failed to write once, and report success the next time.
func (k *logKeeper) flush() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lost == nil {
		k.lost = k.log.Sync()
	}
	return k.lost
}

// isLost reports whether a flush has failed.
func (k *logKeeper) isLost() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost != nil
}

// keepShort copies the log into the file when it is long, for the next commit to begin
// it anew, before a transaction of one writer. What is copied is on the disk, so the
// file never has what its log has not. An error says that the disk refused a flush;
// whatever else keeps the log from being copied, it is tried again.
func (k *logKeeper) keepShort(ctx context.Context, conn connection) error {
	if k.log == nil { // about to be opened
		return nil
	}
	length, long := k.tooLarge(), k.isLong(ctx, conn)
	if length == 0 && !long {
		return nil
	}
	err := k.flush()
	switch {
	case err != nil:
	case length > 0:
		err = k.restart(ctx, conn, length)
	default:
		_, err = conn.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)", nil)
	}
	return sqlstore.Unsynced(k.unreliable(err))
}

// unreliable remembers an error that makes the log and the file unreliable, and returns the
// first of these; nil if there was none.
func (k *logKeeper) unreliable(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code() == lib.SQLITE_IOERR_FSYNC && k.lost == nil {
		k.lost = err
	}
	return k.lost
}

// isLong reports whether the log has many pages, and more than when readers were last in
// the way.
func (k *logKeeper) isLong(ctx context.Context, conn connection) bool {
	if k.since++; k.since%lookEvery != 0 {
		return false
	}
	pages, err := pagesIn(ctx, conn)
	if err != nil || pages < longLog {
		k.again = 0
		return false
	}
	if pages < k.again {
		return false
	}
	k.again = pages + someMore
	return true
}

// pagesIn is how many pages the log has, those of old that are to be overwritten not
// counted.
func pagesIn(ctx context.Context, conn driver.QueryerContext) (int64, error) {
	rows, err := conn.QueryContext(ctx, "PRAGMA wal_checkpoint(NOOP)", nil)
	if err != nil {
		return 0, err
	}
	row := make([]driver.Value, 3) // whether it was in the way of others, pages, pages copied
	err = errors.Join(rows.Next(row), rows.Close())
	pages, _ := row[1].(int64)
	return pages, err
}

// tooLarge is how long the log is as a file, if that is so long that reads must be waited
// for; 0 otherwise.
func (k *logKeeper) tooLarge() int64 {
	length, err := k.log.Seek(0, io.SeekEnd)
	switch {
	case err != nil:
		return 0
	case length <= k.large: // it has begun anew
		k.next = 0
		return 0
	case length <= k.next:
		return 0
	}
	k.next = length + k.large/4
	return length
}

// restart copies all of the log and waits until those who read from it are done; who
// comes meanwhile reads from the file. The longer the log, the longer it waits.
func (k *logKeeper) restart(ctx context.Context, conn driver.ExecerContext, length int64) error {
	wait := min(time.Duration(length/k.large)*time.Second, k.patience)
	_, _ = conn.ExecContext(ctx, busyTimeout(wait), nil)
	_, err := conn.ExecContext(ctx, "PRAGMA wal_checkpoint(RESTART)", nil)
	_, _ = conn.ExecContext(ctx, busyTimeout(k.patience), nil)
	return err
}

func busyTimeout(d time.Duration) string {
	return fmt.Sprintf("PRAGMA busy_timeout(%d)", d.Milliseconds())
}
