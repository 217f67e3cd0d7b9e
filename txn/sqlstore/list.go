package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// defaultLimit bounds an answer when the query does not.
const defaultLimit = 100

// List implements [driver.Store].
func (s *Store) List(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	var recs []*driver.Record
	err := s.call(ctx, "list", func(ctx context.Context) (err error) {
		recs, err = s.list(ctx, q)
		return Unwritten(err)
	})
	return recs, err
}

func (s *Store) list(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	statuses := among(q.Status)
	if len(statuses) == 0 {
		return nil, nil
	}
	columns := Columns
	if q.Brief {
		columns = brief
	}
	q.Limit = cmp.Or(q.Limit, defaultLimit)
	found := find(q, statuses)
	found.text = "SELECT " + columns + " FROM {tx} WHERE id IN (SELECT id FROM (" + found.text + ") AS found)" + newestFirst
	rows, err := s.db.Read.QueryContext(ctx, s.sql(found.text), found.args...)
	if err != nil {
		return nil, err
	}
	return scanAll(rows, !q.Brief)
}

const newestFirst = " ORDER BY created DESC, id DESC"

// find selects the places of the records, not the records: what is sorted on the
// way must not be large.
//
// What is rare, parked or long finished, has an index of its own. For the rest
// there is one by status and creation, so each status is asked for its newest,
// and the newest of these are the answer. That reads a few rows more than an
// index by creation alone would, but only when somebody looks; the index would
// cost with every write.
func find(q driver.Query, statuses []driver.Status) *query {
	if q.Parked || !q.FinishedBefore.IsZero() {
		return newest(q, statuses)
	}
	all := &query{}
	for i, status := range statuses {
		if i > 0 {
			all.add(" UNION ALL ")
		}
		one := newest(q, []driver.Status{status})
		all.add("SELECT id, created FROM ("+one.text+fmt.Sprintf(") AS s%d", i), one.args...)
	}
	all.add(newestFirst+" LIMIT ?", q.Limit)
	return all
}

// newest selects the newest records of a query in some statuses.
func newest(q driver.Query, statuses []driver.Status) *query {
	found := &query{text: "SELECT id, created FROM {tx} WHERE "}
	in(found, "status", statuses)
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
	if q.Parked {
		found.add(" AND parked <> ''")
	}
	if !q.FinishedBefore.IsZero() {
		found.add(" AND finished > 0 AND finished < ? AND "+final, Micros(q.FinishedBefore))
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
	q.add(column + " IN (" + marks(len(values)) + ")")
	for _, v := range values {
		q.args = append(q.args, string(v))
	}
}

// among are the statuses a query asks for, each once.
func among(asked []driver.Status) []driver.Status {
	every := []driver.Status{
		driver.Open, driver.Running, driver.Committing, driver.RollingBack,
		driver.Committed, driver.RolledBack, driver.InDoubt,
	}
	if len(asked) == 0 {
		return every
	}
	return slices.DeleteFunc(every, func(s driver.Status) bool { return !slices.Contains(asked, s) })
}
