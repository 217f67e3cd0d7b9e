package postgres

import (
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// field is a column and what it holds of each of some records. Rows travel as one
// array per column, so that there are two statements, whatever the number of
// rows, and they are planned once.
type field struct {
	name, kind string
	array      func([]*driver.Record) any
}

func text(name string, value func(*driver.Record) string) field {
	return field{name, "text", func(recs []*driver.Record) any { return column(recs, value) }}
}

func number(name string, value func(*driver.Record) int64) field {
	return field{name, "bigint", func(recs []*driver.Record) any { return column(recs, value) }}
}

func blob(name string, value func(*driver.Record) []byte) field {
	return field{name, "bytea", func(recs []*driver.Record) any { return column(recs, value) }}
}

// inserted are the fields of new records.
func inserted() []field {
	return append([]field{
		text("mode", func(r *driver.Record) string { return r.Mode }),
		text("name", func(r *driver.Record) string { return r.Name }),
		text("digest", func(r *driver.Record) string { return r.Digest }),
		number("shard", func(r *driver.Record) int64 { return int64(driver.Shard(r.ID)) }),
		number("created", func(r *driver.Record) int64 { return sqlstore.Micros(r.Created) }),
	}, updatedFields()...)
}

// updatedFields are the fields an update writes, and the ID by which it finds its row.
func updatedFields() []field {
	return []field{
		text("id", func(r *driver.Record) string { return r.ID }),
		text("status", func(r *driver.Record) string { return string(r.Status) }),
		text("parked", func(r *driver.Record) string { return r.Parked }),
		text("waits", func(r *driver.Record) string { return r.Waits }),
		text("owner", func(r *driver.Record) string { return r.Owner }),
		number("epoch", func(r *driver.Record) int64 { return r.Epoch }),
		number("revision", func(r *driver.Record) int64 { return r.Revision }),
		number("due", func(r *driver.Record) int64 { return sqlstore.Micros(r.Due) }),
		number("deadline", func(r *driver.Record) int64 { return sqlstore.Micros(r.Deadline) }),
		number("updated", func(r *driver.Record) int64 { return sqlstore.Micros(r.Updated) }),
		number("finished", func(r *driver.Record) int64 { return sqlstore.Micros(r.Finished) }),
		blob("spec", func(r *driver.Record) []byte { return r.Spec }),
		blob("state", func(r *driver.Record) []byte { return r.State }),
	}
}

// insert is the statement that creates records. It names those it has created.
func insert(table string) string {
	names, params := parameters(inserted())
	return "INSERT INTO " + table + " (" + names + ") SELECT * FROM unnest(" + params + ")" +
		" ON CONFLICT (id) DO NOTHING RETURNING id"
}

// update is the statement that replaces records whose version is the one
// expected. It names those it has replaced, and leaves a spec alone that is not
// given.
func update(table string) string {
	fields := updatedFields()
	names, params := parameters(fields)
	n := len(fields)
	var set []string
	for _, f := range fields {
		switch f.name {
		case "id":
		case "spec":
			set = append(set, "spec = COALESCE(v.spec, t.spec)")
		default:
			set = append(set, f.name+" = v."+f.name)
		}
	}
	return "UPDATE " + table + " AS t SET " + strings.Join(set, ", ") +
		fmt.Sprintf(" FROM unnest(%s, $%d::bigint[], $%d::bigint[], $%d::bigint[])", params, n+1, n+2, n+3) +
		" AS v (" + names + ", was_revision, was_epoch, was_created)" +
		" WHERE t.id = v.id AND t.revision = v.was_revision" +
		" AND t.epoch = v.was_epoch AND t.created = v.was_created RETURNING t.id"
}

// parameters are the names of the fields, and their arrays as parameters.
func parameters(fields []field) (names, params string) {
	var n, p []string
	for i, f := range fields {
		n = append(n, f.name)
		p = append(p, fmt.Sprintf("$%d::%s[]", i+1, f.kind))
	}
	return strings.Join(n, ", "), strings.Join(p, ", ")
}

// arrays are the values of some fields of all records.
func arrays(fields []field, recs []*driver.Record) []any {
	return column(fields, func(f field) any { return f.array(recs) })
}

// column is what every row has in one place.
func column[R, T any](rows []R, value func(R) T) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}
