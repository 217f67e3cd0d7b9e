package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// session is a connection with the statements prepared on it. It is not safe for concurrent use, and its calls go on
// until SQLite has done what it was asked, which takes no longer than a disk does: nothing waits for others in it.
type session struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

// openSession connects to a file.
func openSession(path string, relaxed bool) (*session, error) {
	synchronous := "synchronous(FULL)"
	if relaxed {
		synchronous = "synchronous(NORMAL)"
	}
	db, err := sql.Open("sqlite", address(path, url.Values{"_pragma": {
		"busy_timeout(0)", // who waits inside SQLite starves: see the package comment
		"journal_mode(WAL)", synchronous, "fullfsync(1)", "cache_size(-4096)",
	}}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &session{db: db, conn: conn, stmts: make(map[string]*sql.Stmt)}, nil
}

// address is a file's name with parameters.
func address(path string, parameters url.Values) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	query := strings.ReplaceAll(parameters.Encode(), "+", "%20") // SQLite takes a plus for one
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: query}
	return u.String()
}

func (s *session) statementFor(query string) (*sql.Stmt, error) {
	if stmt := s.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(context.Background(), query)
	if err == nil {
		s.stmts[query] = stmt
	}
	return stmt, err
}

// ExecContext implements rows.Querier.
func (s *session) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := s.statementFor(query) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.Background(), args...)
}

// QueryContext implements rows.Querier.
func (s *session) QueryContext(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.statementFor(query) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.Background(), args...)
}

// execute runs a statement that is told nothing, and tells nothing.
func (s *session) execute(query string) error {
	_, err := s.ExecContext(context.Background(), query)
	return err
}

// close gives the connection up.
func (s *session) close() error {
	var errs []error
	for _, stmt := range s.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, s.conn.Close(), s.db.Close())...)
}
