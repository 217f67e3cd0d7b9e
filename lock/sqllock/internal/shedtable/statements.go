package shedtable

import (
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
)

// statement says what is asked of the database.
type statement int

// What there is, with the parameters 1 name, 2 owner, 3 microseconds; a list has 1 prefix, 2 how many.
const (
	acquire statement = iota // where rows are answered, that of the lock or of who has it
	insert                   // where there is no row yet
	find
	renew
	release
	force
	list
)

// text is a statement in the words of a database, and its parameters in order.
type text struct {
	query string
	order []int
}

// args puts the values of the parameters into the order of the statement.
func (t *text) args(values ...any) []any {
	args := make([]any, len(t.order))
	for i, n := range t.order {
		args[i] = values[n-1]
	}
	return args
}

// newTexts are ShedLock's statements, with what they need to be those of one owner and to have a token.
//
// Times are whole milliseconds in UTC, and counted in microseconds since 1970 where they leave the database.
func newTexts(kind sqlkind.Kind, table string) map[statement]text {
	all, now := postgresTexts(), "date_trunc('milliseconds', timezone('utc', clock_timestamp()))"
	if kind == sqlkind.MySQL {
		all, now = mysqlTexts(), "UTC_TIMESTAMP(3)"
	}
	replace := strings.NewReplacer("{t}", table, "{now}", now)
	texts := make(map[statement]text, len(all))
	for which, source := range all {
		texts[which] = inWordsOf(kind, replace.Replace(source))
	}
	return texts
}

// inWordsOf writes numbered parameters as the database wants them.
func inWordsOf(kind sqlkind.Kind, source string) (t text) {
	parts := strings.Split(source, "$")
	for _, part := range parts[1:] {
		t.order = append(t.order, int(part[0]-'0'))
	}
	if kind == sqlkind.Postgres { // numbers are what it wants
		slices.Sort(t.order)
		t.query, t.order = source, slices.Compact(t.order)
		return t
	}
	for i := range parts[1:] {
		parts[i+1] = parts[i+1][1:]
	}
	t.query = strings.Join(parts, "?")
	return t
}

// postgresTexts are those of PostgreSQL. A lock is taken that is free, and that was last taken before this millisecond:
// the time at which it is taken is its token. Its owner keeps it, and its token.
func postgresTexts() map[statement]string {
	// whether it was taken by this statement, and what row of the table says; a lock may be for ever
	const row = "false, name, locked_by, CAST(EXTRACT(EPOCH FROM locked_at) * 1000000 AS BIGINT), " +
		"CAST(EXTRACT(EPOCH FROM LEAST(lock_until, n.now + interval '200 years') - n.now) * 1000000 AS BIGINT), " +
		"CAST(EXTRACT(EPOCH FROM locked_at - n.now) * 1000000 AS BIGINT), lock_until = locked_at FROM {t}, " +
		"(SELECT {now} AS now) n"
	return map[statement]string{
		acquire: `WITH got AS (
	INSERT INTO {t} AS l (name, lock_until, locked_at, locked_by)
	SELECT $1::text, c.now + $3::bigint * interval '1 microsecond', c.now, $2::text FROM (SELECT {now} AS now) c
	ON CONFLICT (name) DO UPDATE SET lock_until = EXCLUDED.lock_until, locked_by = EXCLUDED.locked_by,
		locked_at = CASE WHEN l.lock_until > EXCLUDED.locked_at THEN l.locked_at ELSE EXCLUDED.locked_at END
	WHERE l.lock_until <= EXCLUDED.locked_at AND l.locked_at < EXCLUDED.locked_at
		OR l.locked_by = EXCLUDED.locked_by AND l.lock_until > EXCLUDED.locked_at
	RETURNING locked_by, locked_at
)
SELECT true, $1::text, locked_by, CAST(EXTRACT(EPOCH FROM locked_at) * 1000000 AS BIGINT), 0::bigint, 0::bigint, false
FROM got
UNION ALL SELECT ` + row + ` WHERE name = $1::text AND NOT EXISTS (SELECT 1 FROM got)`,

		find: `SELECT ` + row + ` WHERE name = $1::text`,

		renew: `UPDATE {t} SET lock_until = {now} + $3::bigint * interval '1 microsecond'
WHERE name = $1::text AND locked_by = $2::text AND lock_until > {now}`,

		release: `UPDATE {t} SET lock_until = locked_at
WHERE name = $1::text AND locked_by = $2::text AND lock_until > {now}`,

		force: `UPDATE {t} SET locked_by = '', lock_until = GREATEST({now}, locked_at + interval '1 millisecond'),
	locked_at = GREATEST({now}, locked_at + interval '1 millisecond')
WHERE name = $1::text AND lock_until > {now}`,

		list: `SELECT ` + row + ` WHERE lock_until > n.now AND substr(name, 1, length($1::text)) = $1::text
ORDER BY name COLLATE "C" LIMIT $2`,
	}
}

// mysqlTexts are those of MySQL and MariaDB. Names are compared by the column's collation, to find the row, and byte by
// byte, to be sure. The token is told as if it were the number of a new row.
func mysqlTexts() map[statement]string {
	const row = "FALSE, CAST(name AS BINARY), locked_by, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', locked_at), " +
		"TIMESTAMPDIFF(MICROSECOND, {now}, lock_until), TIMESTAMPDIFF(MICROSECOND, {now}, locked_at), " +
		"lock_until = locked_at FROM {t}"
	return map[statement]string{
		acquire: `UPDATE {t} SET lock_until = TIMESTAMPADD(MICROSECOND, $3, {now}), locked_at = {now}, locked_by = $2
WHERE name = $1 AND lock_until <= {now} AND locked_at < {now} AND CAST(name AS BINARY) = $1
	AND LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {now}))`,

		insert: `INSERT INTO {t} (name, lock_until, locked_at, locked_by)
VALUES ($1, TIMESTAMPADD(MICROSECOND, $3, {now}), {now}, $2)`,

		find: `SELECT ` + row + ` WHERE name = $1`,

		renew: `UPDATE {t} SET lock_until = TIMESTAMPADD(MICROSECOND, $3, {now})
WHERE name = $1 AND CAST(name AS BINARY) = $1 AND CAST(locked_by AS BINARY) = $2 AND lock_until > {now}`,

		release: `UPDATE {t} SET lock_until = locked_at
WHERE name = $1 AND CAST(name AS BINARY) = $1 AND CAST(locked_by AS BINARY) = $2 AND lock_until > {now}`,

		force: `UPDATE {t} SET locked_by = '', lock_until = GREATEST({now}, TIMESTAMPADD(MICROSECOND, 1000, locked_at)),
	locked_at = GREATEST({now}, TIMESTAMPADD(MICROSECOND, 1000, locked_at))
WHERE name = $1 AND CAST(name AS BINARY) = $1 AND lock_until > {now}`,

		list: `SELECT ` + row + `
WHERE lock_until > {now} AND LEFT(CAST(name AS BINARY), LENGTH($1)) = CAST($1 AS BINARY)
ORDER BY CAST(name AS BINARY) LIMIT $2`,
	}
}
