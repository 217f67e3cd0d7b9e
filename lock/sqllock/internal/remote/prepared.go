package remote

import (
	"context"
	"database/sql"
	"sync"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// prepared keeps the statements of a database whose driver prepares each one anew, which takes two more round trips.
// To prepare one takes a connection, as to run it does: nobody who has one may do either, since others who wait alike
// have all the rest.
type prepared struct {
	db *sql.DB

	mu    sync.Mutex
	stmts map[string]*sql.Stmt
}

func newPrepared(db *sql.DB) prepared {
	return prepared{db: db, stmts: make(map[string]*sql.Stmt)}
}

// get returns a statement, which is prepared if it is not yet.
func (p *prepared) get(ctx context.Context, query string) (*sql.Stmt, error) {
	if known := p.find(query); known != nil {
		return known, nil
	}
	stmt, err := p.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.stmts[query]; other != nil {
		_ = stmt.Close() //nolint:sqlclosecheck // somebody was quicker
		return other, nil
	}
	p.stmts[query] = stmt
	return stmt, nil
}

// find returns a statement that is prepared, else nil.
func (p *prepared) find(query string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stmts[query]
}

func (p *prepared) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for query, stmt := range p.stmts {
		_ = stmt.Close() // of a connection that may have gone
		delete(p.stmts, query)
	}
}

// querier runs statements that are kept, on any connection.
type querier struct{ stmts *prepared }

// ExecContext implements [rows.Querier].
func (q querier) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := q.stmts.get(ctx, query) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext implements [rows.Querier].
func (q querier) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := q.stmts.get(ctx, query) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// Querier runs statements on any connection.
func (s *Store) Querier() rows.Querier {
	if s.Dialect.Prepares {
		return querier{stmts: &s.prepared}
	}
	return s.DB
}

// Close gives up what the store keeps at its database, which goes on.
func (s *Store) Close() {
	s.underway.close()
	s.leftover.waitDone()
	s.prepared.close()
}
