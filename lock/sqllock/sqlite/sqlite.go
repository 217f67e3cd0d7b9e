package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/batch"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// Open returns a client whose locks are in a file, which is made if there is none. Nobody but the file's owner can
// read it.
func Open(path string, opts *Options) (*lock.Client, error) {
	b, err := OpenBackend(path, opts)
	if err != nil {
		return nil, err
	}
	var own lock.Options
	if opts != nil {
		own = opts.Lock
	}
	c, err := lock.New(b, &own)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return c, nil
}

// OpenBackend returns the backend alone, to combine it with others.
func OpenBackend(path string, opts *Options) (driver.Backend, error) {
	filled, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	f, err := openFile(path, filled)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %q: %w", path, err)
	}
	b := &backend{file: f}
	b.Backend = keeper.Backend{Store: f, Label: "sqlite", ReadFirst: true}
	return b, nil
}

// backend implements the driver interfaces on a file.
type backend struct {
	keeper.Backend

	file *file
}

var (
	_ driver.Backend    = (*backend)(nil)
	_ driver.Waiter     = (*backend)(nil)
	_ driver.TurnWaiter = (*backend)(nil)
	_ driver.Checker    = (*backend)(nil)
	_ driver.Identifier = (*backend)(nil)
)

// Acquire implements [driver.Backend]. Who is refused looks whether the holder is alive.
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	g, err := b.Backend.Acquire(ctx, req)
	if !errors.Is(err, driver.ErrHeld) {
		return g, err
	}
	if b.file.freeDead(ctx) {
		return b.Backend.Acquire(ctx, req)
	}
	return g, cmp.Or(b.Describe("acquire", req.Name, b.file.whyUnfreed(req.Name)), err)
}

// Close implements [driver.Backend].
func (b *backend) Close() error { return b.file.close() }

// file implements [keeper.Store].
type file struct {
	path   string
	is     atomic.Pointer[identity]
	boot   string
	client string
	opts   Options
	layout *rows.Layout

	life    context.Context //nolint:containedctx // ends what goes on between calls
	end     context.CancelFunc
	writes  *batch.Batcher[*keeper.Step, struct{}]
	reads   *batch.Batcher[question, struct{}]
	writing sync.Mutex // held while the writer is at work
	reading sync.Mutex
	writer  writer
	reader  reader
	hub     hub
	sign    sign
	closing sync.Once
	closed  error
	looked  atomic.Int64 // when it was last looked for processes that have died
	unfreed atomic.Pointer[unfreed]
}

// Most steps of a batch: one transaction should not keep others from the file for long.
const mostSteps = 64

func openFile(path string, opts Options) (*file, error) {
	abs, err := prepareFile(path)
	if err != nil {
		return nil, err
	}
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	f := &file{
		path: abs, opts: opts, boot: boot, client: strings.ToLower(rand.Text()),
		layout: rows.NewLayout(sqlkind.SQLite, opts.Table),
	}
	f.life, f.end = context.WithCancel(context.Background())
	f.writer, f.reader = writer{file: f, turns: newTurnstile(abs)}, reader{file: f}
	f.hub = hub{file: f, watches: make(watches)}
	if err := firstError(func() error { return f.setUp(f.trySetUp) }, f.putUpSign); err != nil {
		f.end()
		if codeOf(err)&0xff == lib.SQLITE_NOTADB {
			err = input.Errorf("path", "%s is no file of SQLite", abs)
		}
		return nil, errors.Join(f.withCause(err), f.closeSessions())
	}
	f.writes = batch.New(batch.Options[*keeper.Step]{Workers: 1, Most: mostSteps},
		func() batch.Server[*keeper.Step, struct{}] { return f.writer.serveSteps })
	f.reads = batch.New(batch.Options[question]{Workers: 1, Most: mostSteps},
		func() batch.Server[question, struct{}] { return f.reader.serveQuestions })
	return f, nil
}

// setUp tries to set the file up until nobody else is at it.
func (f *file) setUp(try func() error) error {
	limit, cancel := context.WithTimeout(f.life, f.opts.BusyTimeout)
	defer cancel()
	for {
		err := try()
		if err == nil || !isBusy(err) {
			return err
		}
		if !sleep.For(limit, longestPause) {
			return &lockedError{f.path, err}
		}
	}
}

// trySetUp makes the tables if there are none, and ends the leases of an earlier boot.
func (f *file) trySetUp() (err error) {
	if _, err := prepareFile(f.path); err != nil {
		return err
	}
	is, err := identityOf(f.path)
	if err != nil {
		return err
	}
	f.is.Store(&is)
	w := &f.writer
	if w.s == nil {
		if w.s, err = f.connect(); err != nil {
			return err
		}
	}
	if about, found, err := f.layout.About(f.life, w.s); err == nil && found && about.Boot == f.boot {
		return about.Check(f.opts.Table)
	}
	return f.tryMakeTables()
}

// tryMakeTables makes the tables that are missing, and what has to be in them.
func (f *file) tryMakeTables() (err error) {
	w := &f.writer
	w.drop() // what was prepared knows the tables as they were
	if w.s, err = f.connect(); err != nil {
		return err
	}
	if err := w.s.execute("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := f.makeTables(w.s); err != nil {
		return w.abort(err)
	}
	if err := w.s.execute("COMMIT"); err != nil {
		return w.abort(err)
	}
	return nil
}

// makeTables makes what is missing. Whoever may write is alone.
func (f *file) makeTables(s *session) error {
	about := rows.About{Store: strings.ToLower(rand.Text()), Boot: f.boot, Began: leaseClock()}
	for _, statement := range f.layout.Schema() {
		if err := s.execute(statement); err != nil {
			return err
		}
	}
	if err := f.layout.Introduce(f.life, s, about); err != nil {
		return err
	}
	found, _, err := f.layout.About(f.life, s)
	if err != nil {
		return err
	}
	if err := found.Check(f.opts.Table); err != nil {
		return err
	}
	if found.Boot == f.boot {
		return nil
	}
	if f.isOthers() {
		return f.anotherMachine()
	}
	return f.layout.BeginBoot(f.life, s, f.boot, leaseClock())
}

// same reports whether the file of that name is the one that was opened.
func (f *file) same() bool { return f.is.Load().isStill(f.path) }

func (f *file) connect() (*session, error) { return openSession(f.path, f.opts.Relaxed) }

// clock is what time it is now.
func (f *file) clock(about *rows.About) ledger.Clock {
	now := leaseClock()
	return ledger.Clock{
		Now: now, Wall: time.Now().UnixMicro(), Age: time.Duration(now-about.Began) * time.Microsecond,
	}
}

// load reads the state of a name.
func (f *file) load(
	ctx context.Context, s *session, name, id string, c *ledger.Clock, about *rows.About,
) (*rows.Row, error) {
	row, err := f.layout.Load(ctx, s, name, id)
	if err == nil && !row.State.Known {
		row.State.Token = ledger.FirstToken(c.Wall, about.Floor)
	}
	return row, err
}

// Write implements [keeper.Store].
func (f *file) Write(ctx context.Context, s *keeper.Step) error {
	_, err := f.writes.Do(ctx, s)
	return unsent(err)
}

// Client implements [keeper.Store].
func (f *file) Client() string { return f.client }

// Waiters implements [keeper.Store]. Who writes has the whole file: no row is anybody's.
func (f *file) Waiters() int { return 1 }

// firstError does one thing after the other until one fails.
func firstError(all ...func() error) error {
	for _, do := range all {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) close() error {
	f.closing.Do(func() {
		f.end()
		f.writes.Close()
		f.reads.Close()
		f.closed = errors.Join(f.hub.close(), f.closeSessions(), f.sign.takeDown())
	})
	return f.closed
}

// closeSessions waits for what is being done.
func (f *file) closeSessions() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.reading.Lock()
	defer f.reading.Unlock()
	f.writer.drop()
	f.writer.turns.close()
	f.reader.drop()
	return nil
}
