package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// defaultLimit bounds an answer when the query does not.
const defaultLimit = 100

// List implements [driver.Store].
func (s *Store) List(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	var recs []*driver.Record
	err := s.whileAlive(ctx, "list", func(ctx context.Context) (err error) {
		recs, err = s.list(ctx, q)
		return Unwritten(err)
	})
	return recs, err
}

func (s *Store) list(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	statuses := among(q)
	if len(statuses) == 0 {
		return nil, nil
	}
	columns := Columns
	if q.Brief {
		columns = brief
	}
	q.Limit = cmp.Or(q.Limit, defaultLimit)
	found := s.find(q, statuses)
	found.text = "SELECT " + columns + " FROM {tx} WHERE id IN (SELECT id FROM (" + found.text + ") AS found)" +
		newestFirst
	rows, err := s.db.Read.QueryContext(ctx, s.sql(found.text), found.args...)
	if err != nil {
		return nil, err
	}
	recs, err := scanAll(rows, !q.Brief)
	return recs, errors.Join(err, s.syncer.waitSynced(ctx))
}

const newestFirst = " ORDER BY created DESC, id DESC"

// find selects the places of the records, not the records: what is sorted on the
// way must not be large.
//
// What is parked is rare and has an index of its own. For the rest there is one by
// status and creation, so each status is asked for its newest, and the newest of
// these are the answer. That reads a few rows more than an index by creation alone
// would, but only when somebody looks; the index would cost with every write.
func (s *Store) find(q driver.Query, statuses []driver.Status) *query {
	if q.Parked {
		// The first condition is for partial indexes, the second for that of MySQL, which
		// has only the first byte and cannot tell > from >=.
		found := &query{
			text: "SELECT id, created FROM {tx} WHERE parked > '' AND parked >= ? AND ",
			args: []any{"\x01"},
		}
		in(found, "COALESCE(status, '')", statuses)
		return newest(found, q)
	}
	all := &query{}
	for i, status := range statuses {
		if i > 0 {
			all.add(" UNION ALL ")
		}
		from := "SELECT id, created FROM {tx} " + s.clauses.ByStatus + " WHERE status = ?"
		one := newest(&query{text: from, args: []any{string(status)}}, q)
		all.add("SELECT id, created FROM ("+one.text+fmt.Sprintf(") AS s%d", i), one.args...)
	}
	all.add(newestFirst+" LIMIT ?", q.Limit)
	return all
}

// newest adds all conditions but those on the status.
func newest(found *query, q driver.Query) *query {
	if len(q.Modes) > 0 {
		found.add(" AND ")
		in(found, "mode", q.Modes)
	}
	if q.Name != "" {
		found.add(" AND name = ?", q.Name)
	}
	if q.Prefix != "" {
		found.add(" AND id >= ? AND id < ?", q.Prefix, q.Prefix+string(unicode.MaxRune))
	}
	if !q.FinishedBefore.IsZero() {
		// What ended before a time began before it. That leads past all that is newer,
		// and to what is to go, however much has piled up. Where clocks disagree and
		// something ended before it began, it is found a little later.
		at := Micros(q.FinishedBefore)
		found.add(" AND finished > 0 AND finished < ? AND created < ?", at, at)
	}
	if q.Before != (driver.Cursor{}) {
		at := Micros(q.Before.Created)
		found.add(" AND created <= ? AND (created < ? OR id < ?)", at, at, q.Before.ID)
	}
	found.add(newestFirst+" LIMIT ?", q.Limit)
	return found
}

// in selects by a list.
func in[T ~string](q *query, column string, values []T) {
	q.add(column + " IN (" + sqlkind.Marks(len(values)) + ")")
	for _, v := range values {
		q.args = append(q.args, string(v))
	}
}

// among are the statuses that can be in the answer, each once.
func among(q driver.Query) []driver.Status {
	return slices.DeleteFunc(driver.Statuses(), func(s driver.Status) bool {
		return len(q.Status) > 0 && !slices.Contains(q.Status, s) || !q.FinishedBefore.IsZero() && !s.Final()
	})
}
