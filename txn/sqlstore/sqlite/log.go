package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"os"
	"time"
)

// largeLog is how long the log gets before reads are waited for. Commits append to it,
// and begin anew when all of it is in the file and nobody reads from it. While reads
// overlap that is never the case by itself, and the longer the log the slower they are.
const largeLog = 64 << 20

// openLog opens the log, once: a program that has no descriptors left must not lose
// what was written for want of one. The log stays as long as a connection does.
func openLog(path string) (*os.File, error) { return os.OpenFile(path+"-wal", os.O_RDWR, 0) }

// logKeeper has the log begin anew when it is large. It is used by one writer.
type logKeeper struct {
	log      *os.File
	large    int64
	patience time.Duration // how long a write waits at most
	next     int64         // not to be tried again below this length
}

// keepShort copies a large log into the file and has the next commit begin it anew, for
// which it waits until those who read from it are done; who comes meanwhile reads from
// the file. The longer the log, the longer it waits. What comes of it nobody has to
// know: it is tried again.
func (k *logKeeper) keepShort(ctx context.Context, conn driver.ExecerContext) {
	length, err := k.log.Seek(0, io.SeekEnd)
	if err != nil || length <= max(k.large, k.next) {
		return
	}
	k.next = length + k.large/4
	wait := min(time.Duration(length/k.large)*time.Second, k.patience)
	_, _ = conn.ExecContext(ctx, busyTimeout(wait), nil)
	_, _ = conn.ExecContext(ctx, "PRAGMA wal_checkpoint(RESTART)", nil)
	_, _ = conn.ExecContext(ctx, busyTimeout(k.patience), nil)
}

func busyTimeout(d time.Duration) string {
	return fmt.Sprintf("PRAGMA busy_timeout(%d)", d.Milliseconds())
}
