// Package fencesql has the statements by which a guard remembers tokens in a database, for whatever runs them.
package fencesql

import (
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// DefaultTable is where tokens are kept if nothing else is said.
const DefaultTable = "bedrock_guard"

// Table is the table with the newest token of each name.
type Table struct {
	Name string
	// Raise remembers a token unless a newer one is known. It writes the row in any case, and so has it to the end
	// of the transaction. Its parameters are the name as NameSent has it, and the token. The newest one is what it
	// returns or, where Newest is not empty, what that returns.
	Raise string
	// Newest returns the newest token that was committed, or is of this transaction, whatever the transaction saw
	// before. Its parameter is the name as NameSent has it.
	Newest string
	// Schema makes the table if it is not there. Several may do so at once.
	Schema []string

	kind sqlkind.Kind
}

// NameSent is what a name is sent as. PostgreSQL would take a text for one of the connection's client_encoding, and
// MySQL for one of its character set: of connections with different ones each would have a row of its own.
func (t *Table) NameSent(name string) string {
	if t.kind == sqlkind.SQLite {
		return name
	}
	return hex.EncodeToString([]byte(name))
}

// nameFrom is the name in a statement, from what was sent.
func nameFrom(kind sqlkind.Kind) string {
	switch kind {
	case sqlkind.Postgres:
		return "convert_from(decode(?, 'hex'), 'UTF8')"
	case sqlkind.MySQL:
		return "UNHEX(?)"
	default:
		return "?"
	}
}

// NewTable returns the statements for a kind of database.
func NewTable(kind sqlkind.Kind, name string) (*Table, error) {
	if !kind.Known() {
		return nil, input.Errorf("dialect", "%q: want mysql, postgres or sqlite", kind)
	}
	if name == "" {
		name = DefaultTable
	}
	if err := checkTable(kind, name); err != nil {
		return nil, err
	}
	t := &Table{Name: name, Schema: schemaOf(kind, name), kind: kind}
	insert := "INSERT INTO " + name + " (name, token, raised) VALUES (" + nameFrom(kind) + ", ?, " + kind.Clock() + ")"
	if kind == sqlkind.MySQL { // which assigns from left to right, and returns nothing
		t.Raise = insert + " ON DUPLICATE KEY UPDATE raised = IF(token < VALUES(token), VALUES(raised), raised)," +
			" token = GREATEST(token, VALUES(token))"
		t.Newest = "SELECT token FROM " + name + " WHERE name = " + nameFrom(kind) + " FOR UPDATE"
		return t, nil
	}
	t.Raise = kind.Place(strings.Replace(insert, " (", " AS g (", 1) + " ON CONFLICT (name) DO UPDATE SET" +
		" raised = CASE WHEN g.token < excluded.token THEN excluded.raised ELSE g.raised END," +
		" token = CASE WHEN g.token < excluded.token THEN excluded.token ELSE g.token END RETURNING token")
	return t, nil
}

var (
	tablePattern  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?$`)
	columnPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)
)

func checkTable(kind sqlkind.Kind, name string) error {
	if !tablePattern.MatchString(name) {
		return input.Errorf("table", "%q: want a plain name, perhaps after that of a schema and a dot", name)
	}
	if kind == sqlkind.SQLite && strings.Contains(name, ".") {
		return input.Errorf("table", "%q: SQLite takes no name of a schema here", name)
	}
	return nil
}

// schemaOf makes the table. Names are compared byte by byte: no collation may take two locks for one. PostgreSQL's
// IF NOT EXISTS fails when two make the same table at the same time, so one waits for the other; whatever tables they
// make, for one table has many spellings.
func schemaOf(kind sqlkind.Kind, table string) []string {
	text, tail := "TEXT", " WITHOUT ROWID"
	switch kind {
	case sqlkind.MySQL:
		text, tail = "VARBINARY("+nameBytes+")", " ENGINE=InnoDB"
	case sqlkind.Postgres:
		text, tail = `TEXT COLLATE "C"`, ""
	case sqlkind.SQLite:
	}
	create := "CREATE TABLE IF NOT EXISTS " + table + " (\n" +
		"\tname " + text + " NOT NULL PRIMARY KEY,\n" +
		"\ttoken BIGINT NOT NULL,\n" +
		"\traised BIGINT NOT NULL\n)" + tail // when the token was first seen, in microseconds since 1970
	if kind == sqlkind.Postgres {
		return []string{"SELECT pg_advisory_xact_lock(hashtext('bedrock_guard'))", create}
	}
	return []string{create}
}

// nameBytes is how long a name may be.
const nameBytes = "512"

// The conversion fails to compile if names may be of another length.
const _ = uint(driver.MaxName-512) + uint(512-driver.MaxName)
