package barrier

import "strings"

const (
	dtmTable = "dtm_barrier.barrier"
	// dtmBarrier is the number of the first barrier within a call. There is one per
	// call here: counting them would make the order of calls part of the identity.
	dtmBarrier = "'01'"
	// dtmBranch is the branch of a message's producer.
	dtmBranch = "00"
)

// dtmOrigins pairs the operations in DTM's words.
var dtmOrigins = map[string]string{"compensate": "action", "cancel": "try", "rollback": "action"}

// newDTM is the table of DTM's client libraries.
func newDTM(d Dialect, table string) *layout {
	if table == "" {
		table = dtmTable
	}
	const byKey = " WHERE gid = ? AND branch_id = ? AND op = ? AND barrier_id = " + dtmBarrier
	created, clock := dtmCreated(d)
	return &layout{
		table: table, dialect: d, origins: dtmOrigins, maxName: 128, maxWord: 45,
		words:   map[string]string{"deliver": "action"},
		message: key{branch: dtmBranch, op: "msg"}, prepared: "msg", checked: "rollback",
		bothMarks: true, sharedTable: true,

		schema: dtmSchema(d, table),
		insertQ: d.kind().Place(
			d.insertIgnore(table + " (trans_type, gid, branch_id, op, barrier_id, reason, create_time, update_time)" +
				" VALUES (?, ?, ?, ?, " + dtmBarrier + ", ?, NOW(), NOW())"),
		),
		args: func(m mark) []any {
			return []any{m.mode, m.transaction, m.branch, m.op, m.cause}
		},
		readQ:   d.kind().Place(d.readLatest("SELECT gid, branch_id, op, reason, 0, 0, NULL FROM " + table + byKey)),
		clockQ:  "SELECT " + clock,
		oldQ:    d.kind().Place(oldQuery(table, created, "gid")),
		removeQ: "DELETE FROM " + table + " WHERE " + created + " < ? AND gid IN ",
	}
}

// dtmCreated is a row's time, and the time to compare it with, in microseconds.
// DTM's column on MySQL has no time zone: both are the session's.
func dtmCreated(d Dialect) (created, clock string) {
	if d == MySQL {
		const since = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', "
		return since + "create_time)", since + "NOW(6))"
	}
	return "CAST(EXTRACT(EPOCH FROM create_time) * 1000000 AS BIGINT)", d.kind().Clock()
}

// dtmSchema makes the table as DTM's own script does.
func dtmSchema(d Dialect, table string) []string {
	columns := []string{
		"trans_type VARCHAR(45) DEFAULT ''",
		"gid VARCHAR(128) DEFAULT ''",
		"branch_id VARCHAR(128) DEFAULT ''",
		"op VARCHAR(45) DEFAULT ''",
		"barrier_id VARCHAR(45) DEFAULT ''",
		"reason VARCHAR(45) DEFAULT ''",
	}
	schema, _, qualified := strings.Cut(table, ".")
	if d == MySQL {
		columns = append([]string{"id BIGINT PRIMARY KEY AUTO_INCREMENT"}, append(
			columns,
			"create_time DATETIME DEFAULT NOW()", "update_time DATETIME DEFAULT NOW()",
			"KEY (create_time)", "KEY (update_time)", "UNIQUE KEY (gid, branch_id, op, barrier_id)",
		)...)
		return withSchema(qualified, "CREATE DATABASE IF NOT EXISTS "+schema,
			createTable(table, columns)+" ENGINE=InnoDB DEFAULT CHARSET=utf8mb4")
	}
	columns = append([]string{"id BIGINT NOT NULL DEFAULT NEXTVAL('" + table + "_seq') PRIMARY KEY"}, append(
		columns,
		"create_time TIMESTAMP(0) WITH TIME ZONE", "update_time TIMESTAMP(0) WITH TIME ZONE",
		"CONSTRAINT uniq_barrier UNIQUE (gid, branch_id, op, barrier_id)",
	)...)
	return withSchema(qualified, "CREATE SCHEMA IF NOT EXISTS "+schema,
		"CREATE SEQUENCE IF NOT EXISTS "+table+"_seq", createTable(table, columns))
}

// withSchema puts the creation of a schema first, if the table is in one.
func withSchema(qualified bool, create string, rest ...string) []string {
	if !qualified {
		return rest
	}
	return append([]string{create}, rest...)
}
