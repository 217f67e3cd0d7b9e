package mysql

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// packet is a transaction of which all statements go out together. That takes
// one round trip, and a client that is frozen holds no locks meanwhile: either
// the server has all of it, or nothing. It writes the whole batch or nothing, too,
// because the server skips what comes after a statement that fails, and the commit
// is the last.
type packet struct {
	text strings.Builder
	args []any
}

// One more than most is out of range, and that is an error.
const most = "9223372036854775807"

// replaceSame is [replace] for records that have the version expected, and an
// error for others. The version comes first, because assignments see what those
// before them have done.
const replaceSame = " ON DUPLICATE KEY UPDATE revision = " +
	most + " + (revision <> VALUES(revision) - 1 OR epoch <> CAST(VALUES(digest) AS SIGNED)" +
	" OR created <> VALUES(created)) - " +
	most + " + VALUES(revision), " + changes

func newPacket(table string, b sqlstore.Batch) *packet {
	p := &packet{}
	p.add("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION; ", nil)
	affected := len(b.Creates)
	if len(b.Creates) > 0 {
		text, args := insertion(table, b.Creates, "; ")
		p.add(text, args)
	}
	if len(b.Updates) > 0 {
		text, args := insertion(table, successors(b.Updates), replaceSame+"; ")
		p.add(text, args)
		affected = 2 * len(b.Updates) // what was not there, and is now, counts once
	}
	p.add("SELECT "+most+" + (ROW_COUNT() <> ?); COMMIT", []any{affected})
	return p
}

func (p *packet) add(text string, args []any) {
	p.text.WriteString(text)
	p.args = append(p.args, args...)
}

// successors are the records to write. Where a new record has its digest, which no
// update changes, they have the epoch expected.
func successors(updates []sqlstore.Update) []*driver.Record {
	recs := make([]*driver.Record, len(updates))
	for i, u := range updates {
		rec := *u.Record
		rec.Created, rec.Digest = sqlstore.FromMicros(u.Was.Created), strconv.FormatInt(u.Was.Epoch, 10)
		recs[i] = &rec
	}
	return recs
}

// writePacket writes a batch by one packet. It reports whether the server has refused it,
// or a part of it, and so nothing is written.
func (d *dialect) writePacket(ctx context.Context, p *packet) (refused bool, err error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return false, sqlstore.Unwritten(err)
	}
	defer conn.Close()
	rows, err := conn.QueryContext(ctx, p.text.String(), p.args...)
	if err != nil {
		return d.rollBackAfter(ctx, conn, err)
	}
	defer rows.Close()
	if !rows.Next() {
		return d.rollBackAfter(ctx, conn, cmp.Or(rows.Err(), sql.ErrNoRows))
	}
	for rows.NextResultSet() { // there is none, only the outcome of the commit
	}
	return false, rows.Err()
}

// rollBackAfter rolls back after an error before the commit. Unless the server has said
// it, or nothing was sent, it is unknown how far the server has got.
func (d *dialect) rollBackAfter(ctx context.Context, conn *sql.Conn, err error) (refused bool, _ error) {
	if errors.Is(err, sqldriver.ErrBadConn) || errors.Is(err, mysql.ErrPktTooLarge) {
		return false, sqlstore.Unwritten(err)
	}
	if _, said := errors.AsType[*mysql.MySQLError](err); !said {
		return false, err
	}
	if _, failed := conn.ExecContext(ctx, "ROLLBACK"); failed != nil {
		_ = conn.Raw(func(any) error { return sqldriver.ErrBadConn }) // which ends the connection
	}
	v := d.Judge(err)
	return v == sqlstore.Refused || v == sqlstore.Duplicate, sqlstore.Unwritten(err)
}
