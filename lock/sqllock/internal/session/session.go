package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
)

const (
	// patience is the longest one request may take. Who has not answered by then has lost its session.
	patience = 5 * time.Second
	// beat is how often a session is asked whether it is there.
	beat = 300 * time.Millisecond
	// silence is for how long a session may say nothing, at least. It is longer while a grant is.
	silence = 10 * time.Second
	// idleTime is for how long a session is kept that has no locks.
	idleTime = 30 * time.Second
)

// session is a connection, and what the database has of it.
type session struct {
	conn    *sql.Conn
	raw     any // the driver's connection, also when conn does not lead to it any more
	id      int64
	silence time.Duration // after which the database ends it
	held    map[string]*hold
	used    time.Time // when it last had a lock
	stmts   map[string]*sql.Stmt
}

// statement is one that was prepared over the connection, and ends with it.
func (s *session) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if known := s.stmts[query]; known != nil {
		return known, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err == nil {
		s.stmts[query] = stmt
	}
	return stmt, err
}

func (s *session) execute(ctx context.Context, query string, args ...any) error {
	stmt, err := s.statement(ctx, query) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(ctx, args...)
	return err
}

// queryOne runs a statement that is answered by one row.
func (s *session) queryOne(ctx context.Context, query string, args []any, answer ...any) error {
	stmt, err := s.statement(ctx, query) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(answer...)
}

// line is where requests are made one after the other, for they all use one connection.
type line struct {
	Ways

	store *remote.Store
	texts *texts
	lost  func(*session, error) // is told of the session's end, and why that is

	life context.Context //nolint:containedctx // that of the line itself
	end  context.CancelFunc
	work sync.WaitGroup

	slot    chan struct{} // one, of whoever makes a request
	current *session      // nil if there is none; of whoever has the slot
}

// overSession makes requests over the session, which begins if there is none. The caller waits no longer than its
// context does.
func overSession[T any](
	ctx context.Context, l *line, requests func(ctx context.Context, s *session) (T, error),
) (none T, err error) {
	select {
	case l.slot <- struct{}{}:
	case <-ctx.Done():
		return none, l.store.Unwritten(ctx.Err())
	case <-l.life.Done():
		return none, fmt.Errorf("%w: closed", lockdriver.ErrUnavailable)
	}
	if err := errors.Join(ctx.Err(), l.life.Err()); err != nil {
		<-l.slot
		return none, fmt.Errorf("%w: %w", lockdriver.ErrUnavailable, err)
	}
	return lockdriver.Await(ctx, func() (T, error) {
		defer func() { <-l.slot }()
		own, cancel := context.WithTimeout(l.life, patience)
		defer cancel()
		s, err := l.beginSession(own)
		if err != nil {
			return none, err
		}
		answer, err := requests(own, s)
		if err != nil && l.endsSession(err) && !l.goesOn(own, s, err) {
			l.dropSession(s, whyEnded(own, err))
		}
		return answer, l.store.Explain(own, err)
	})
}

// endsSession reports whether nobody knows what has become of the session.
func (l *line) endsSession(err error) bool {
	switch {
	case errors.Is(err, errGone):
		return true
	case errors.Is(err, lockdriver.ErrHeld) || errors.Is(err, lockdriver.ErrLost):
		return false
	}
	return !l.store.Dialect.LeftNothing(err) || l.store.Dialect.Classify(err) == sqlkind.Broken
}

// goesOn reports whether the session is there all the same: a database that takes no writes for a while, or has no
// room, says so over a session that keeps its locks.
func (l *line) goesOn(ctx context.Context, s *session, err error) bool {
	return !errors.Is(err, errGone) && l.keepAlive(ctx, s) == nil
}

// errGone says that a session is not what it was.
var errGone = fmt.Errorf("its session has ended%.0w", lockdriver.ErrLost)

// beginSession returns the session, or a new one.
func (l *line) beginSession(ctx context.Context) (*session, error) {
	if l.current != nil {
		return l.current, nil
	}
	if l.store.DB.Stats().MaxOpenConnections == 1 {
		return nil, fmt.Errorf("%w: the pool has one connection, which locks would keep", lockdriver.ErrRefused)
	}
	conn, err := l.store.DB.Conn(ctx)
	if err != nil {
		return nil, l.store.Unwritten(err)
	}
	if err := l.store.FindSpare(ctx); err != nil {
		switch {
		case errors.Is(err, remote.ErrNoneCame): // one may come another time
			err = fmt.Errorf("%w: %w", lockdriver.ErrUnavailable, err)
		case errors.Is(err, remote.ErrNoSpare):
			err = fmt.Errorf("%w: %w", lockdriver.ErrRefused, err)
		}
		return nil, errors.Join(l.store.Unwritten(err), conn.Close())
	}
	s := &session{conn: conn, held: make(map[string]*hold), used: time.Now(), stmts: make(map[string]*sql.Stmt)}
	err = conn.Raw(func(c any) error {
		s.raw = c
		return nil
	})
	if err == nil {
		err = l.setUp(ctx, s)
	}
	if err != nil {
		l.discard(s)
		return nil, l.store.Unwritten(err)
	}
	l.current = s
	l.work.Go(func() { l.watchSession(s) })
	return s, nil
}

func (l *line) setUp(ctx context.Context, s *session) error {
	if l.Verify != nil {
		if err := l.Verify(ctx, s.conn); err != nil {
			return err
		}
	}
	if err := s.execute(ctx, l.texts.begin); err != nil {
		return err
	}
	if err := l.allowSilence(ctx, s, silence); err != nil {
		return err
	}
	if err := s.queryOne(ctx, l.texts.id, nil, &s.id); err != nil {
		return err
	}
	return l.findTable(ctx, s)
}

// allowSilence has the database keep the session for as long as a grant lives whose client says nothing: before that
// the client believes that it has the lock.
func (l *line) allowSilence(ctx context.Context, s *session, d time.Duration) error {
	if d <= s.silence {
		return nil
	}
	if err := s.execute(ctx, l.texts.silenceText(d)); err != nil {
		return err
	}
	s.silence = d
	return nil
}

// findTable makes the table of tokens if there is none.
func (l *line) findTable(ctx context.Context, s *session) error {
	if err := l.store.Dialect.Refuses(ctx, s.conn); err != nil {
		return err
	}
	var token, now int64
	err := s.queryOne(ctx, l.texts.read, []any{""}, &token, &now)
	if err == nil || !l.store.Dialect.IsMissing(err) {
		return err
	}
	return l.makeTable(ctx)
}

// makeTable makes the table of tokens, which is not there.
func (l *line) makeTable(ctx context.Context) error {
	return l.store.MakeMissing(ctx, l.texts.schema, func(ctx context.Context) error { return Migrate(ctx, l.store) })
}

// keepFor has the session be there for as long as a grant lives.
func (l *line) keepFor(ctx context.Context, s *session, d time.Duration) error {
	if err := l.allowSilence(ctx, s, d); err != nil {
		return err
	}
	return l.keepAlive(ctx, s)
}

// keepAlive asks whether the session is the one that it was.
func (l *line) keepAlive(ctx context.Context, s *session) error {
	var id int64
	if err := s.queryOne(ctx, l.texts.id, nil, &id); err != nil {
		return err
	}
	if id != s.id {
		return fmt.Errorf("%w: a pooler has lent another one", errGone)
	}
	return nil
}

// dropSession ends a session, and all that it has.
func (l *line) dropSession(s *session, why error) {
	if l.current != s {
		return
	}
	l.current = nil
	l.discard(s)
	if l.life.Err() == nil { // else it is closed, and nobody wants to know
		l.lost(s, why)
	}
}

// whyEnded says why a session is over, by what its last request was told.
func whyEnded(request context.Context, err error) error {
	switch {
	case errors.Is(err, errGone):
		return err
	case request.Err() != nil:
		return fmt.Errorf("its connection was closed: no answer in %s", patience)
	default:
		return fmt.Errorf("its connection has ended: %w", outcome.InOneLine(err))
	}
}

// discard ends the connection of a session. If it was given up amid a statement the server has what it has until it is
// told.
func (l *line) discard(s *session) {
	remote.Discard(s.conn, l.Cut)
	l.store.NoteLeftover(s.raw)
}

// watchSession asks the session now and then whether it is there, until it has ended.
func (l *line) watchSession(s *session) {
	for sleep.For(l.life, beat) && !l.hasEnded(s) {
		_, _ = overSession(l.life, l, func(ctx context.Context, now *session) (none struct{}, err error) {
			switch {
			case now != s:
				return none, nil
			case len(s.held) > 0:
				s.used = time.Now()
			case time.Since(s.used) > idleTime:
				l.dropSession(s, nil) // nobody has a lock of it
				return none, nil
			}
			return none, l.keepAlive(ctx, s) // whose error ends it
		})
	}
}

// hasEnded reports whether another session may have begun.
func (l *line) hasEnded(s *session) bool {
	select {
	case l.slot <- struct{}{}:
	case <-l.life.Done():
		return true
	}
	defer func() { <-l.slot }()
	return l.current != s
}

// close ends the session, when what is under way has ended.
func (l *line) close() {
	l.end()
	l.slot <- struct{}{} // for good
	if l.current != nil {
		l.discard(l.current)
		l.current = nil
	}
	l.work.Wait()
}
