package remote

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"sync"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// prepared keeps the statements of a database whose driver prepares each one anew, which takes two more round trips.
// To prepare one takes a connection: nobody who has one in a transaction may wait for that, since others who wait alike
// have all the rest. So what a transaction lacks is prepared before the next one begins.
type prepared struct {
	db *sql.DB

	mu      sync.Mutex
	stmts   map[string]*sql.Stmt
	lacking map[string]bool // statements that transactions wanted
}

func newPrepared(db *sql.DB) prepared {
	return prepared{db: db, stmts: make(map[string]*sql.Stmt), lacking: make(map[string]bool)}
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
	delete(p.lacking, query)
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

// findOrNote is find for a transaction: what it lacks will be there for the next one.
func (p *prepared) findOrNote(query string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	stmt := p.stmts[query]
	if stmt == nil {
		p.lacking[query] = true
	}
	return stmt
}

// prepareLacking prepares what transactions wanted, before the next one has a connection.
func (p *prepared) prepareLacking(ctx context.Context) error {
	p.mu.Lock()
	lacking := slices.Collect(maps.Keys(p.lacking))
	p.mu.Unlock()
	for _, query := range lacking {
		if _, err := p.get(ctx, query); err != nil { //nolint:sqlclosecheck // it is kept
			return err
		}
	}
	return nil
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

// txQuerier runs statements in a transaction, those that are kept as such.
type txQuerier struct {
	stmts *prepared
	tx    *sql.Tx
}

// ExecContext implements [rows.Querier].
func (q txQuerier) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := q.stmts.findOrNote(query); stmt != nil {
		return q.tx.StmtContext(ctx, stmt).ExecContext(ctx, args...) //nolint:sqlclosecheck // with the transaction
	}
	return q.tx.ExecContext(ctx, query, args...)
}

// QueryContext implements [rows.Querier].
func (q txQuerier) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := q.stmts.findOrNote(query); stmt != nil {
		return q.tx.StmtContext(ctx, stmt).QueryContext(ctx, args...) //nolint:sqlclosecheck // with the transaction
	}
	return q.tx.QueryContext(ctx, query, args...)
}

// beginTx begins a transaction.
func (s *Store) beginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	if s.Dialect.Prepares {
		if err := s.prepared.prepareLacking(ctx); err != nil {
			return nil, err
		}
	}
	return s.DB.BeginTx(ctx, opts)
}

// Querier runs statements on any connection.
func (s *Store) Querier() rows.Querier {
	if s.Dialect.Prepares {
		return querier{stmts: &s.prepared}
	}
	return s.DB
}

// querierOf runs statements in a transaction.
func (s *Store) querierOf(tx *sql.Tx) rows.Querier {
	if s.Dialect.Prepares {
		return txQuerier{stmts: &s.prepared, tx: tx}
	}
	return tx
}

// Close gives up what the store keeps at its database, which goes on.
func (s *Store) Close() {
	s.underway.close()
	s.prepared.close()
}
