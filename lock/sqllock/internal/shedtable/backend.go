package shedtable

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

const (
	// block is how many tokens a grant has: as many as a millisecond has microseconds.
	block = 1000
	// maxHost is how much of a host's name is written.
	maxHost = 64
	// farAhead is how far in the future nobody can have taken a lock.
	farAhead = 10 * time.Second
	// attempts is how often one tries who is overtaken, or comes within the millisecond of the last one.
	attempts = 20
)

// Backend implements the driver interfaces on the table.
type Backend struct {
	*Table

	label string
	host  string
}

var (
	_ driver.Backend   = (*Backend)(nil)
	_ driver.Inspector = (*Backend)(nil)
	_ driver.Forcer    = (*Backend)(nil)
)

// New returns a backend, whose errors begin with the label.
func New(store *remote.Store, label string) *Backend {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	host = strings.ReplaceAll(strings.ToValidUTF8(host, ""), "@", "")
	return &Backend{Table: newTable(store), label: label, host: host[:min(len(host), maxHost)]}
}

// Close implements [driver.Backend].
func (b *Backend) Close() error {
	b.store.Close()
	return nil
}

// row is one of the table.
type row struct {
	granted  bool // it was taken by the statement that answers it
	name, by string
	since    int64 // when it was taken
	left     int64 // until it is free
	ahead    int64 // from now to when it was taken
	freed    bool  // its owner has given it back
}

// writtenBy is what stands in the column for an owner: who looks for the host finds it.
func (b *Backend) writtenBy(owner string) string { return owner + "@" + b.host }

// shownOwner is whose the row is: that of a grant, or the host of another library.
func (r *row) shownOwner() string {
	if i := strings.LastIndexByte(r.by, '@'); i > 0 {
		return r.by[:i]
	}
	return r.by
}

// Acquire implements [driver.Backend].
func (b *Backend) Acquire(ctx context.Context, req driver.Request) (g driver.Grant, err error) {
	if err := errors.Join(req.CheckExclusive(), driver.Refused(driver.CheckOwner(req.Owner))); err != nil {
		return g, b.describe("acquire", req.Name, err)
	}
	token, err := remote.Finish(ctx, b.store, req.Name, func(own context.Context) (token int64, err error) {
		err = b.run(own, req.Name, func() error {
			token, err = b.takeLock(ctx, own, &req)
			return err
		})
		return token, err
	})
	if err != nil {
		return g, b.describe("acquire", req.Name, err)
	}
	g = req.Ungranted()
	g.Token, g.Tokens = uint64(token), min(req.Tokens, block)
	return g, nil
}

// takeLock tries until it is clear who has the lock, or its caller has left. What it does it does within its own
// context.
func (b *Backend) takeLock(caller, ctx context.Context, req *driver.Request) (token int64, err error) {
	for range attempts {
		r, found, err := b.takeOnce(ctx, req)
		if err != nil {
			return 0, err
		}
		if found {
			if token, err := b.judgeRow(ctx, req, &r); err != nil || token > 0 {
				return token, err
			}
		}
		if !sleep.ForBoth(caller, ctx, time.Millisecond) {
			return 0, b.store.Unwritten(cmp.Or(caller.Err(), ctx.Err()))
		}
	}
	return 0, fmt.Errorf("%w: others take it again and again", driver.ErrUnavailable)
}

// judgeRow says whose a row is by now. Without token and error it may be had.
func (b *Backend) judgeRow(ctx context.Context, req *driver.Request, r *row) (token int64, err error) {
	ahead := fromMicros(r.ahead)
	switch {
	case r.granted:
		return r.since, nil
	case r.name != req.Name:
		return 0, fmt.Errorf("%w: the table does not keep it apart from %q: its column name needs a collation that "+
			"compares byte by byte", driver.ErrRefused, r.name)
	case ahead > farAhead:
		return 0, fmt.Errorf("%w: it was taken by %q in the future, %s from now: who does so writes times of another "+
			"time zone than UTC, or its clock is wrong", driver.ErrRefused, r.shownOwner(), ahead.Round(time.Second))
	case r.left > 0 && r.by != b.writtenBy(req.Owner):
		return 0, &driver.HeldError{Owner: r.shownOwner(), TTL: fromMicros(r.left)}
	case ahead > attempts*time.Millisecond:
		return 0, fmt.Errorf("%w: it was last taken %s from now: the database's clock was set back, or that was "+
			"another's clock", driver.ErrUnavailable, ahead)
	case r.left <= 0 || !b.isMySQL():
		return 0, nil
	}
	done, err := b.change(ctx, renew, req.Name, b.writtenBy(req.Owner), inMicros(req.TTL)) // it is the owner's
	if err != nil || !done {
		return 0, err
	}
	return r.since, nil
}

// takeOnce takes the lock if it is free, or returns who has it; nothing if that changes.
func (b *Backend) takeOnce(ctx context.Context, req *driver.Request) (r row, found bool, err error) {
	by, micros := b.writtenBy(req.Owner), inMicros(req.TTL)
	if !b.isMySQL() {
		return b.queryRow(ctx, acquire, req.Name, by, micros)
	}
	since, err := b.update(ctx, acquire, req.Name, by, micros)
	if err != nil {
		return r, false, err
	}
	if since > 0 {
		return row{granted: true, since: since}, true, nil
	}
	if r, found, err = b.queryRow(ctx, find, req.Name); err != nil || found {
		return r, found, err
	}
	_, err = b.update(ctx, insert, req.Name, by, micros)
	if err != nil && b.store.Dialect.Classify(err) != sqlkind.Duplicate {
		return r, false, err
	}
	return b.queryRow(ctx, find, req.Name)
}

// inMicros rounds up to whole milliseconds, and one more: the clock leaves out what is less.
func inMicros(d time.Duration) int64 {
	return (int64((d+time.Millisecond-1)/time.Millisecond) + 1) * 1000
}

// mostTold is the longest time that is told: who switches a job off locks it for centuries, which no duration holds.
const mostTold = 100 * 365 * 24 * time.Hour

func fromMicros(n int64) time.Duration {
	return time.Duration(min(n, mostTold.Microseconds())) * time.Microsecond
}

// Renew implements [driver.Backend]. Each waits for its row, and some for theirs side by side.
func (b *Backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	errs := make([]error, len(grants))
	keeper.SideBySide(len(grants), func(i int) {
		g := grants[i]
		errs[i] = b.describe("renew", g.Name, b.changeOwn(ctx, renew, &g, func(r *row) bool { return r.left > 0 }))
	})
	return errs
}

// Release implements [driver.Backend]. Nobody tells the table that he waits.
func (b *Backend) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	err = b.store.InRoom(ctx, g.Name, func(ctx context.Context) error {
		return b.changeOwn(ctx, release, &g, func(r *row) bool { return r.freed })
	})
	return 0, b.describe("release", g.Name, err)
}

// changeOwn changes the row of a grant. Where nothing has changed, that is well if the row is as it should be.
func (b *Backend) changeOwn(ctx context.Context, which statement, g *driver.Grant, isDone func(*row) bool) error {
	if err := driver.Refused(driver.CheckOwner(g.Owner)); err != nil {
		return err
	}
	by := b.writtenBy(g.Owner)
	return b.run(ctx, g.Name, func() error {
		done, err := b.change(ctx, which, g.Name, by, inMicros(g.TTL))
		if err != nil || done {
			return err
		}
		r, found, err := b.queryRow(ctx, find, g.Name)
		switch {
		case err != nil:
			return err
		case found && r.name == g.Name && r.by == by && isDone(&r):
			return nil
		}
		return driver.ErrLost
	})
}

// run does something with the table, once it is known, until it has met nobody.
func (b *Backend) run(ctx context.Context, name string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return b.store.Unwritten(err)
	}
	shape, err := b.inspectTable(ctx)
	if err != nil {
		return err
	}
	if err := shape.checkName(name); err != nil {
		return err
	}
	err = b.store.Repeat(ctx, do)
	if !b.store.Dialect.IsMissing(err) {
		return err
	}
	b.forgetShape() // somebody has dropped it
	if _, err := b.inspectTable(ctx); err != nil {
		return err
	}
	return b.store.Repeat(ctx, do)
}

// checkName refuses a name that the column does not take as it is.
func (s *shape) checkName(name string) error {
	c := s.columns["name"]
	if n := utf8.RuneCountInString(name); n > c.length {
		return fmt.Errorf("%w: the name has %d characters, the table's column takes %d", driver.ErrRefused, n, c.length)
	}
	if strings.HasPrefix(c.charset, "utf8") {
		return nil
	}
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return fmt.Errorf("%w: the table's column takes no name with characters that %s may not have",
				driver.ErrRefused, c.charset)
		}
	}
	return nil
}

// change changes a row, and reports whether it did.
func (b *Backend) change(ctx context.Context, which statement, values ...any) (bool, error) {
	done := false
	err := b.runStatement(ctx, func(q rows.Querier) error {
		t := b.texts[which]
		result, err := q.ExecContext(ctx, t.query, t.args(values...)...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		done = n > 0
		return err
	})
	return done, err
}

// update changes a row, and returns the time that is its token by then, 0 if nothing was changed.
func (b *Backend) update(ctx context.Context, which statement, values ...any) (since int64, err error) {
	err = b.runStatement(ctx, func(q rows.Querier) error {
		t := b.texts[which]
		result, err := q.ExecContext(ctx, t.query, t.args(values...)...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err
		}
		since, err = result.LastInsertId()
		return err
	})
	return since, err
}

// queryRow returns the row that a statement answers, if there is one.
func (b *Backend) queryRow(ctx context.Context, which statement, values ...any) (r row, found bool, err error) {
	err = b.runStatement(ctx, func(q rows.Querier) error {
		found = false
		return b.queryEach(ctx, q, which, func(one *row) { r, found = *one, true }, values...)
	})
	return r, found, err
}

func (b *Backend) queryEach(
	ctx context.Context, q rows.Querier, which statement, tell func(*row), values ...any,
) error {
	t := b.texts[which]
	return scanEach(ctx, q, t.query, func(found *sql.Rows) error {
		var r row
		err := found.Scan(&r.granted, &r.name, &r.by, &r.since, &r.left, &r.ahead, &r.freed)
		if err == nil {
			tell(&r)
		}
		return err
	}, t.args(values...)...)
}

// runStatement runs a statement that is its own transaction. What failed of it may have happened, unless the error is
// of a class that says otherwise.
func (b *Backend) runStatement(ctx context.Context, statement func(rows.Querier) error) error {
	b.mu.Lock()
	commits := b.shape == nil || b.shape.commits
	b.mu.Unlock()
	if commits {
		return b.store.Outcome(ctx, b.store.RunAlone(ctx, statement))
	}
	tx, err := remote.Begin(ctx, b.store.DB, "START TRANSACTION")
	if err != nil {
		return b.store.Unwritten(err)
	}
	defer tx.RollBack(ctx) // of no effect after the commit
	if err := statement(tx); err != nil {
		return b.store.Unwritten(err)
	}
	return b.store.Outcome(ctx, tx.Commit(ctx, b.store.Dialect.Commit))
}

func (b *Backend) describe(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, plain := errors.AsType[*driver.HeldError](err); plain {
		return err
	}
	return fmt.Errorf("%s: %s %q in %s: %w", b.label, operation, name, b.store.Layout.Table, err)
}
