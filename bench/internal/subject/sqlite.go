package subject

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the driver

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

// sqliteClient is the name of the driver.
const sqliteClient = "modernc"

// onSQLite returns those whose locks are in files of this machine.
func onSQLite() []Subject {
	return []Subject{
		{
			Name: "bedrock-sqlite", Role: Bedrock, Store: SQLite, Client: sqliteClient,
			Open: func(_ context.Context, at Site, lease time.Duration) (Locker, error) {
				path := filepath.Join(at.Addr, "locks.db")
				locks, err := sqlite.Open(path, &sqlite.Options{Lock: lock.Options{TTL: lease}})
				return bedrockOf(locks, err, func() error { return nil })
			},
		},
		{
			Name: "flock", Role: Peer, Store: SQLite,
			Open: func(_ context.Context, at Site, _ time.Duration) (Locker, error) {
				return &flockLocker{folder: at.Addr}, nil
			},
		},
		{Name: "raw-sqlite", Role: Raw, Store: SQLite, Client: sqliteClient, Open: openRawSQLite},
	}
}

// openRawSQLite puts a row in and deletes it, in a transaction each that is on the disk when it is over. It is for one
// process: another one would find the file busy.
func openRawSQLite(_ context.Context, at Site, _ time.Duration) (Locker, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(at.Addr, "raw.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, fmt.Errorf("open file: %w", err)
	}
	db.SetMaxOpenConns(1)
	return newRawRows(db, `CREATE TABLE IF NOT EXISTS bench_raw (
			name TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID`,
		"INSERT INTO bench_raw (name, owner, until) VALUES (?, ?, 0) ON CONFLICT DO NOTHING",
		"DELETE FROM bench_raw WHERE name = ? AND owner = ?")
}

// flockLocker is locks of the kernel, with a file for each name.
type flockLocker struct {
	folder string

	mu    sync.Mutex
	files []*os.File
}

// Mutex implements Locker.
func (l *flockLocker) Mutex(name string) Mutex {
	sum := sha256.Sum256([]byte(name)) // a name may be too long for a file, and has slashes
	return &flockMutex{locker: l, path: filepath.Join(l.folder, hex.EncodeToString(sum[:])+".lock")}
}

// Close implements Locker.
func (l *flockLocker) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, file := range l.files {
		_ = file.Close() // it has not been written to
	}
	return nil
}

// openFile opens a file until the locker is closed: the kernel's locks are those of open files.
func (l *flockLocker) openFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, file)
	return file, nil
}

type flockMutex struct {
	locker *flockLocker
	path   string
	fd     int // 0 before the file is open
}

// Lock waits in the kernel, which knows no context, and gives the lock back if nobody wants it any more.
func (m *flockMutex) Lock(ctx context.Context) error {
	if m.fd == 0 {
		file, err := m.locker.openFile(m.path)
		if err != nil {
			return err
		}
		m.fd = int(file.Fd())
	}
	if err := lockFile(m.fd, unix.LOCK_EX); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		_ = m.Unlock(ctx) // what is to be told is that it is too late
		return err
	}
	return nil
}

// Unlock implements Mutex.
func (m *flockMutex) Unlock(context.Context) error { return lockFile(m.fd, unix.LOCK_UN) }

// lockFile asks the kernel until it is not disturbed by a signal, of which Go's runtime sends itself some.
func lockFile(fd, how int) error {
	for {
		if err := unix.Flock(fd, how); err != unix.EINTR { //nolint:errorlint // it is a number
			return err
		}
	}
}
