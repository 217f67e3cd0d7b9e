package barrier

import (
	"fmt"
	"strings"
)

const nativeTable = "bedrock_barrier"

// newNative is Bedrock's own table. Names are compared byte by byte: no collation
// may take two transactions for one.
func newNative(d Dialect, table string) *layout {
	if table == "" {
		table = nativeTable
	}
	const byKey = " WHERE transaction_id = ? AND branch = ? AND op = ?"
	return &layout{
		table: table, dialect: d, origins: origins, maxName: 255, maxWord: 64,
		message: key{op: "msg"}, prepared: "msg", checked: "check",

		schema: nativeSchema(d, table),
		insertQ: d.kind().Place(
			d.insertIgnore(table + " (transaction_id, branch, op, cause, epoch, attempt, result, created)" +
				" VALUES (?, ?, ?, ?, ?, ?, ?, " + d.kind().Clock() + ")"),
		),
		args: func(m mark) []any {
			return append(m.args(), m.cause, m.epoch, m.attempt, m.result)
		},
		readQ: d.kind().Place(
			d.readLatest("SELECT transaction_id, branch, op, cause, epoch, attempt, result FROM " + table + byKey),
		),
		keepQ: d.kind().Place("UPDATE " + table + " SET result = ?" + byKey),
		retakeQ: d.kind().Place("UPDATE " + table + " SET cause = ?, epoch = ?, attempt = ?, result = ?" + byKey +
			" AND cause = '" + causeRefused + "' AND (epoch < ? OR epoch = ? AND attempt < ?)"),
		clockQ:  "SELECT " + d.kind().Clock(),
		oldQ:    d.kind().Place(oldQuery(table, "created", "transaction_id")),
		removeQ: "DELETE FROM " + table + " WHERE created < ? AND transaction_id IN ",
	}
}

// oldQuery lists transactions with old marks, from a given place on.
func oldQuery(table, created, transaction string) string {
	return fmt.Sprintf(
		"SELECT DISTINCT %[2]s, %[3]s FROM %[1]s WHERE %[2]s < ? AND %[2]s >= ? AND (%[2]s > ? OR %[3]s > ?)"+
			" ORDER BY 1, 2 LIMIT ?",
		table, created, transaction,
	)
}

func nativeSchema(d Dialect, table string) []string {
	name, word, blob, tail := "TEXT", "TEXT", "BLOB", " WITHOUT ROWID"
	switch d {
	case MySQL:
		name, word, blob, tail = "VARBINARY(255)", "VARBINARY(64)", "LONGBLOB", " ENGINE=InnoDB"
	case Postgres:
		name, word, blob, tail = `TEXT COLLATE "C"`, `TEXT COLLATE "C"`, "BYTEA", ""
	case SQLite:
	}
	columns := []string{
		"transaction_id " + name + " NOT NULL",
		"branch " + name + " NOT NULL",
		"op " + word + " NOT NULL",
		"cause " + word + " NOT NULL",
		"epoch BIGINT NOT NULL",
		"attempt BIGINT NOT NULL",
		"result " + blob,
		"created BIGINT NOT NULL", // microseconds since 1970
		"PRIMARY KEY (transaction_id, branch, op)",
	}
	index := table[strings.LastIndexByte(table, '.')+1:] + "_created"
	on := " (created, transaction_id)"
	if d == MySQL { // it has no CREATE INDEX IF NOT EXISTS
		columns = append(columns, "INDEX "+index+on)
		return []string{createTable(table, columns) + tail}
	}
	return []string{createTable(table, columns) + tail, "CREATE INDEX IF NOT EXISTS " + index + " ON " + table + on}
}

func createTable(table string, columns []string) string {
	return "CREATE TABLE IF NOT EXISTS " + table + " (\n\t" + strings.Join(columns, ",\n\t") + "\n)"
}
