package sqlstore

import (
	"database/sql"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// Columns are the columns of a record, in the order of [Values].
	Columns = brief + ", spec, state"

	brief = "id, mode, name, digest, status, parked, waits, owner, epoch, revision, shard, " +
		"due, deadline, created, updated, finished"

	finals   = "('committed', 'rolled-back', 'in-doubt')"
	underWay = "('open', 'running', 'committing', 'rolling-back')"

	// isFinal and isUnderWay are for rows found otherwise. An expression is no
	// column: planners would like to start from the index by status, and read all
	// records there are.
	isFinal    = "COALESCE(status, '') IN " + finals
	isUnderWay = "COALESCE(status, '') IN " + underWay
)

// Values are the values of a record's columns.
func Values(rec *driver.Record) []any {
	return []any{
		rec.ID, rec.Mode, rec.Name, rec.Digest, string(rec.Status), rec.Parked, rec.Waits, rec.Owner,
		rec.Epoch, rec.Revision, int64(driver.Shard(rec.ID)),
		Micros(rec.Due), Micros(rec.Deadline), Micros(rec.Created), Micros(rec.Updated), Micros(rec.Finished),
		rec.Spec, rec.State,
	}
}

// AsSeen is a condition that n records meet: each by its ID, revision, epoch and creation,
// which are what somebody has seen of it.
func AsSeen(n int) string {
	const one = "id = ? AND revision = ? AND epoch = ? AND created = ? OR "
	return strings.TrimSuffix(strings.Repeat(one, n), " OR ")
}

// Micros is how a time is stored: microseconds since 1970, 0 for none.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// FromMicros is the time that [Micros] stored.
func FromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// scanner is a row, alone or among others.
type scanner interface{ Scan(dest ...any) error }

// scan reads a row of all columns, or of the brief ones.
func scan(row scanner, blobs bool) (*driver.Record, error) {
	var rec driver.Record
	var shard, due, deadline, created, updated, finished int64
	dest := []any{
		&rec.ID, &rec.Mode, &rec.Name, &rec.Digest, &rec.Status, &rec.Parked, &rec.Waits, &rec.Owner,
		&rec.Epoch, &rec.Revision, &shard, &due, &deadline, &created, &updated, &finished,
	}
	if blobs {
		dest = append(dest, &rec.Spec, &rec.State)
	}
	if err := row.Scan(dest...); err != nil {
		return nil, err
	}
	rec.Due, rec.Deadline, rec.Created = FromMicros(due), FromMicros(deadline), FromMicros(created)
	rec.Updated, rec.Finished = FromMicros(updated), FromMicros(finished)
	return &rec, nil
}

// scanAll reads all rows, and closes them.
func scanAll(rows *sql.Rows, blobs bool) ([]*driver.Record, error) {
	defer rows.Close()
	var recs []*driver.Record
	for rows.Next() {
		rec, err := scan(rows, blobs)
		if err != nil {
			return nil, err
		}
		recs = append(recs, rec)
	}
	return recs, rows.Err()
}
