package sqlstore_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

var errLost = errors.New("connection lost")

// losing is a database that loses the connection at one moment of a transaction.
type losing struct{ atCommit bool }

func (l losing) Connect(context.Context) (sqldriver.Conn, error) { return l, nil }
func (l losing) Driver() sqldriver.Driver                        { return nil }
func (l losing) Prepare(string) (sqldriver.Stmt, error)          { return nil, errLost }
func (l losing) Close() error                                    { return nil }
func (l losing) Begin() (sqldriver.Tx, error)                    { return l, nil }
func (l losing) Rollback() error                                 { return errLost }

func (l losing) Commit() error {
	if l.atCommit {
		return errLost
	}
	return nil
}

func (l losing) BeginTx(context.Context, sqldriver.TxOptions) (sqldriver.Tx, error) { return l, nil }

// TestLostConnection: before the commit nothing was written, and that is said.
// After it nobody knows, and it must not be said.
func TestLostConnection(t *testing.T) {
	for _, atCommit := range []bool{false, true} {
		db := sql.OpenDB(losing{atCommit})
		f := &fake{
			judge: func(error) sqlstore.Verdict { return sqlstore.Broken },
			write: func(ctx context.Context, _ []string) ([]string, error) {
				return nil, sqlstore.InTx(ctx, db, func(*sql.Tx) error {
					if atCommit {
						return nil
					}
					return errLost
				})
			},
		}
		s := open(t, f)
		err := s.Create(t.Context(), record("a"))
		if !errors.Is(err, errLost) || errors.Is(err, driver.ErrUnavailable) == atCommit {
			t.Errorf("lost at the commit: %v; got %v", atCommit, err)
		}
		s.Close()
		db.Close()
	}
}
