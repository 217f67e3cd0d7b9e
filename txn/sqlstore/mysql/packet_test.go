package mysql

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// fake is a connection that fails a packet in one place.
type fake struct {
	query, guard, commit, rollback error

	rolledBack, closed bool
}

func (f *fake) Connect(context.Context) (sqldriver.Conn, error) { return f, nil }
func (f *fake) Driver() sqldriver.Driver                        { return nil }
func (f *fake) Prepare(string) (sqldriver.Stmt, error)          { return nil, errors.New("not expected") }

func (f *fake) Begin() (sqldriver.Tx, error)                { return nil, errors.New("not expected") }
func (f *fake) CheckNamedValue(*sqldriver.NamedValue) error { return nil }

func (f *fake) Close() error {
	f.closed = true
	return nil
}

func (f *fake) ExecContext(context.Context, string, []sqldriver.NamedValue) (sqldriver.Result, error) {
	f.rolledBack = true
	return sqldriver.ResultNoRows, f.rollback
}

func (f *fake) QueryContext(context.Context, string, []sqldriver.NamedValue) (sqldriver.Rows, error) {
	if f.query != nil {
		return nil, f.query
	}
	return &fakeRows{fake: f}, nil
}

// fakeRows is the answer of the guard, and behind it that of the commit.
type fakeRows struct {
	*fake
	read bool
}

func (r *fakeRows) Columns() []string { return []string{"guard"} }
func (r *fakeRows) Close() error      { return nil }

func (r *fakeRows) Next(dest []sqldriver.Value) error {
	if r.guard != nil || r.read {
		return orEnd(r.guard)
	}
	r.read, dest[0] = true, int64(0)
	return nil
}

func (r *fakeRows) HasNextResultSet() bool { return true }
func (r *fakeRows) NextResultSet() error   { return orEnd(r.commit) }

func orEnd(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// TestOutcomeOfPacket: what the server refuses before the commit is not written,
// for certain; what goes wrong with the commit, or on the way, may be.
func TestOutcomeOfPacket(t *testing.T) {
	said := func(number uint16) error { return &mysql.MySQLError{Number: number} }
	const errDuplicate, errDeadlock, errKilled, unknownOfCommit = 1062, 1213, 1927, 1180
	for name, test := range map[string]struct {
		conn                           fake
		err                            error
		refused, unwritten, rolledBack bool
		closed                         bool
	}{
		"written": {},
		"ID taken": {
			conn: fake{query: said(errDuplicate)},
			err:  said(errDuplicate), refused: true, unwritten: true, rolledBack: true,
		},
		"stale": {
			conn: fake{guard: said(1690)},
			err:  said(1690), refused: true, unwritten: true, rolledBack: true,
		},
		"deadlock": {
			conn: fake{query: said(errDeadlock)},
			err:  said(errDeadlock), unwritten: true, rolledBack: true,
		},
		"no commit":      {conn: fake{commit: said(unknownOfCommit)}, err: said(unknownOfCommit)},
		"lost":           {conn: fake{query: mysql.ErrInvalidConn}, err: mysql.ErrInvalidConn},
		"lost at commit": {conn: fake{commit: mysql.ErrInvalidConn}, err: mysql.ErrInvalidConn},
		"never sent":     {conn: fake{query: mysql.ErrPktTooLarge}, err: mysql.ErrPktTooLarge, unwritten: true},
		"dead before": {
			conn: fake{query: sqldriver.ErrBadConn},
			err:  sqldriver.ErrBadConn, unwritten: true, closed: true,
		},
		"no roll back": {
			conn: fake{query: said(1690), rollback: io.ErrClosedPipe},
			err:  said(1690), refused: true, unwritten: true, rolledBack: true, closed: true,
		},
		"killed meanwhile": {
			conn: fake{query: said(errKilled)},
			err:  said(errKilled), unwritten: true, rolledBack: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := sql.OpenDB(&test.conn)
			defer db.Close()
			d := &dialect{db: db, packets: true}
			b := sqlstore.Batch{Creates: []*driver.Record{{ID: "a"}}}
			refused, err := d.writePacket(t.Context(), newPacket("tx", b))
			want := test.err
			if test.unwritten {
				want = sqlstore.Unwritten(want)
			}
			got := fmt.Sprintf("refused %v: %T %v", refused, err, err)
			wanted := fmt.Sprintf("refused %v: %T %v", test.refused, want, want)
			if got != wanted {
				t.Errorf("got %s; want %s", got, wanted)
			}
			if test.conn.rolledBack != test.rolledBack || test.conn.closed != test.closed {
				t.Errorf("rolled back: %v, connection closed: %v", test.conn.rolledBack, test.conn.closed)
			}
		})
	}
}
