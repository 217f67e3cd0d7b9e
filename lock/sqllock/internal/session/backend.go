package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
	"github.com/bedrock-go/bedrock/lock/internal/tenure"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// Backend implements the driver interfaces.
type Backend struct {
	*line

	label string
	book  *tenure.Book[*hold]

	mu    sync.Mutex
	tell  func(driver.Message)
	freed []string // owners who have released of late, the newest last
}

// hold is a lock that the session has.
type hold struct {
	name, owner string
	key         any
	token       int64
	tokens      int
	until       time.Duration // by the boot clock; of whoever has the slot
}

// remembered is how many owners are, who have released.
const remembered = 1024

var (
	_ driver.Backend   = (*Backend)(nil)
	_ driver.Inspector = (*Backend)(nil)
	_ driver.Notifier  = (*Backend)(nil)
)

// Ways are what a kind of database does in its own way; each may be nil.
type Ways struct {
	// Verify refuses a connection whose session is not the client's own.
	Verify func(context.Context, *sql.Conn) error
	// Cut ends a connection of the driver's where package sql does not: it may give it back to a pool beneath.
	Cut func(driverConn any)
}

// New returns a backend, whose errors begin with the label.
func New(store *remote.Store, ways Ways, label string) *Backend {
	b := &Backend{label: label, tell: func(driver.Message) {}}
	l := &line{
		store: store, texts: newTexts(store.Layout.Kind, store.Layout.Table), Ways: ways, lost: b.sessionLost,
		slot: make(chan struct{}, 1),
	}
	l.life, l.end = context.WithCancel(context.Background())
	b.line = l
	b.book = tenure.New(b.endHold)
	return b
}

// Schema is the SQL that makes the table.
func Schema(store *remote.Store) string {
	return newTexts(store.Layout.Kind, store.Layout.Table).schema + ";\n"
}

// Migrate makes the table if there is none.
func Migrate(ctx context.Context, store *remote.Store) error {
	return store.Unwritten(store.Dialect.Alone(ctx, store.DB, func(q rows.Querier) error {
		_, err := q.ExecContext(ctx, newTexts(store.Layout.Kind, store.Layout.Table).schema)
		return err
	}))
}

// Notify implements [driver.Notifier]: who has a lock is told when the session ends.
func (b *Backend) Notify(tell func(driver.Message)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell = tell
}

// Close implements [driver.Backend].
func (b *Backend) Close() error {
	b.book.Close()
	b.close()
	b.store.Close()
	return nil
}

// sessionLost tells those whose locks have ended with it why it has ended.
func (b *Backend) sessionLost(s *session, why error) {
	b.mu.Lock()
	tell := b.tell
	b.mu.Unlock()
	for name, h := range s.held {
		delete(s.held, name)
		b.book.Take(h.owner)
		tell(driver.Message{Name: h.name, Owner: h.owner, Kind: driver.Taken, Why: why})
	}
}

// Acquire implements [driver.Backend].
func (b *Backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	g := req.Ungranted()
	if err := errors.Join(req.CheckExclusive(), driver.Refused(driver.CheckOwner(req.Owner))); err != nil {
		return driver.Grant{}, b.describe("acquire", req.Name, err)
	}
	h, err := overSession(ctx, b.line, func(ctx context.Context, s *session) (*hold, error) {
		return b.takeLock(ctx, s, &req)
	})
	if err != nil {
		return driver.Grant{}, b.describe("acquire", req.Name, err)
	}
	g.Token, g.Tokens = uint64(h.token), min(h.tokens, req.Tokens)
	return g, nil
}

// takeLock takes a lock that is free, or the owner's already.
func (b *Backend) takeLock(ctx context.Context, s *session, req *driver.Request) (*hold, error) {
	asked := bootclock.Now()
	h := s.held[req.Name]
	switch {
	case h == nil:
		return b.takeNewLock(ctx, s, req)
	case h.owner != req.Owner:
		return nil, &driver.HeldError{Owner: h.owner, TTL: max(h.until-asked, time.Millisecond)}
	}
	if err := b.keepFor(ctx, s, req.TTL); err != nil {
		return nil, err
	}
	if !b.book.Prolong(h.owner, asked+req.TTL) { // its time is over, and it is about to end
		if err := b.free(ctx, s, h); err != nil {
			return nil, err
		}
		return b.takeNewLock(ctx, s, req)
	}
	h.until = asked + req.TTL
	return h, nil
}

// takeNewLock takes a lock that this session does not have.
func (b *Backend) takeNewLock(ctx context.Context, s *session, req *driver.Request) (*hold, error) {
	asked := bootclock.Now()
	if err := b.allowSilence(ctx, s, req.TTL); err != nil {
		return nil, err
	}
	h := &hold{
		name: req.Name, owner: req.Owner, until: asked + req.TTL,
		key: keyOf(b.store.Layout.Kind, b.store.Layout.Table, req.Name),
	}
	got, err := b.askLock(ctx, s, b.texts.take, h)
	switch {
	case err != nil:
		return nil, err
	case !got:
		return nil, &driver.HeldError{TTL: driver.UnknownTTL}
	}
	s.held[req.Name] = h
	err = b.writeToken(ctx, s, req, h)
	if b.store.Dialect.IsMissing(err) { // somebody has dropped the table
		if err = b.makeTable(ctx); err == nil {
			err = b.writeToken(ctx, s, req, h)
		}
	}
	if err != nil {
		return nil, outcome.InOneLine(errors.Join(b.asOutcome(err), b.free(ctx, s, h)))
	}
	b.book.Put(h.owner, h, h.until)
	return h, nil
}

// asOutcome is what an answer of the database to a statement means for a lock that is given back again.
func (b *Backend) asOutcome(err error) error {
	if b.store.Dialect.LeftNothing(err) {
		return b.store.Unwritten(err)
	}
	return err
}

// askLock asks for a lock, or gives it back, and reports whether that was done.
func (b *Backend) askLock(ctx context.Context, s *session, text string, h *hold) (bool, error) {
	var done int
	err := s.queryOne(ctx, text, []any{h.key}, &done)
	return done == 1, err
}

// writeToken writes down who has the lock, with tokens higher than all before.
func (b *Backend) writeToken(ctx context.Context, s *session, req *driver.Request, h *hold) error {
	var last, now int64
	if err := s.queryOne(ctx, b.texts.read, []any{h.name}, &last, &now); err != nil {
		return err
	}
	if last < 0 {
		last = now - int64(time.Millisecond/time.Microsecond)
	}
	newest := max(last+1, now) // not below the clock, should the table have been put back
	h.tokens = int(min(int64(req.Tokens), newest-last))
	h.token = newest - int64(h.tokens) + 1
	return s.execute(ctx, b.texts.write, h.name, h.key, newest, h.tokens, h.owner, req.Meta, now, s.id)
}

// free gives a lock back.
func (b *Backend) free(ctx context.Context, s *session, h *hold) error {
	done, err := b.askLock(ctx, s, b.texts.free, h)
	if err != nil {
		return err
	}
	delete(s.held, h.name)
	if !done {
		return fmt.Errorf("%w: the database has no such lock of it", errGone)
	}
	return nil
}

// endHold gives a lock back whose time is over.
func (b *Backend) endHold(ctx context.Context, h *hold) error {
	_, err := overSession(ctx, b.line, func(ctx context.Context, s *session) (none struct{}, err error) {
		if s.held[h.name] != h {
			return none, nil
		}
		return none, b.free(ctx, s, h)
	})
	return err
}

// Renew implements [driver.Backend]: the session is asked once for all.
func (b *Backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	errs := make([]error, len(grants))
	var longest time.Duration
	for i := range grants {
		errs[i] = driver.Refused(driver.CheckOwner(grants[i].Owner))
		longest = max(longest, grants[i].TTL)
	}
	asked := bootclock.Now()
	held, err := overSession(ctx, b.line, func(ctx context.Context, s *session) ([]bool, error) {
		if err := b.keepFor(ctx, s, longest); err != nil {
			return nil, err
		}
		held := make([]bool, len(grants))
		for i := range grants {
			g := &grants[i]
			if h := s.held[g.Name]; h != nil && h.owner == g.Owner && b.book.Prolong(g.Owner, asked+g.TTL) {
				h.until = asked + g.TTL
				held[i] = true
			}
		}
		return held, nil
	})
	for i := range grants {
		switch {
		case errs[i] != nil:
		case err != nil:
			errs[i] = err
		case !held[i]:
			errs[i] = driver.ErrLost
		}
		errs[i] = b.describe("renew", grants[i].Name, errs[i])
	}
	return errs
}

// Release implements [driver.Backend]. Nobody tells the database that he waits.
func (b *Backend) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	if err := driver.Refused(driver.CheckOwner(g.Owner)); err != nil {
		return 0, b.describe("release", g.Name, err)
	}
	_, err = overSession(ctx, b.line, func(ctx context.Context, s *session) (none struct{}, err error) {
		h := s.held[g.Name]
		if h == nil || h.owner != g.Owner {
			if b.hasFreed(g.Owner) {
				return none, nil
			}
			return none, driver.ErrLost
		}
		_, own := b.book.Take(g.Owner)
		if err := b.free(ctx, s, h); err != nil {
			return none, err
		}
		if !own { // its time was over
			return none, driver.ErrLost
		}
		b.rememberFreed(g.Owner)
		return none, nil
	})
	return 0, b.describe("release", g.Name, err)
}

func (b *Backend) rememberFreed(owner string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.freed = append(b.freed, owner)
	if len(b.freed) > 2*remembered {
		b.freed = slices.Clone(b.freed[remembered:])
	}
}

func (b *Backend) hasFreed(owner string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.freed, owner)
}

func (b *Backend) describe(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, plain := errors.AsType[*driver.HeldError](err); plain {
		return err
	}
	return fmt.Errorf("%s: %s %q: %w", b.label, operation, name, err)
}
