// Package rows keeps what the ledger decides in tables of SQL, one row a name: who has a mutex is in it. Whoever else
// has something of a name, or waits for it, has a row of a second table, and the first says how many those are. A third
// has one row about the store itself.
package rows

import (
	"context"
	"database/sql"
	"regexp"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
)

// DefaultTable is what the tables are called, and begin with.
const DefaultTable = "bedrock_locks"

// Version is that of the schema.
const Version = 1

// Querier is a connection, a transaction, or what keeps statements prepared.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Layout is where the rows are.
type Layout struct {
	Kind  sqlkind.Kind
	Table string

	texts texts
}

// texts are the statements, in the words of the database.
type texts struct {
	readName, lockName, lockFree, insertName, updateName, deleteName, ensureName string
	readEntries, insertEntry, updateEntry, deleteEntry                           string
	deleteEntries, dropAnswers                                                   string
	readAbout, raiseFloor                                                        string
	namesFrom, heldFrom, namesOf                                                 string
}

var tableName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,39}$`)

// CheckTable says by an [*input.Error] why tables cannot be called so.
func CheckTable(table string) error {
	if !tableName.MatchString(table) {
		return input.Errorf("table", "is %q: want 1 to 40 of a-z, 0-9 and _, and no digit first", table)
	}
	return nil
}

// NewLayout returns that of tables which are called so.
func NewLayout(kind sqlkind.Kind, table string) *Layout {
	l := &Layout{Kind: kind, Table: table}
	greatest := "GREATEST"
	if kind == sqlkind.SQLite {
		greatest = "max"
	}
	l.texts = texts{
		readName:   l.text("SELECT " + nameColumns + l.now() + " FROM {t} WHERE name = ?"),
		lockName:   l.text("SELECT " + nameColumns + l.now() + " FROM {t} WHERE name = ? FOR UPDATE"),
		lockFree:   l.text("SELECT " + nameColumns + l.now() + " FROM {t} WHERE name = ? FOR UPDATE SKIP LOCKED"),
		insertName: l.text("INSERT INTO {t} (" + setColumns + ", name) VALUES (" + sqlkind.Marks(setCount+1) + ")"),
		updateName: l.text("UPDATE {t} SET " + strings.ReplaceAll(setColumns, ",", " = ?,") + " = ? WHERE name = ?"),
		deleteName: l.text("DELETE FROM {t} WHERE name = ?"),
		ensureName: l.ensureText(),
		readEntries: l.text("SELECT " + entryKey + ", " + entryColumns +
			" FROM {t}_holders WHERE name = ? AND (role <> ? OR owner = ?)"),
		insertEntry: l.text("INSERT INTO {t}_holders (" + entryColumns + ", name, role, owner) VALUES (" +
			sqlkind.Marks(entryCount+3) + ")"),
		updateEntry: l.text("UPDATE {t}_holders SET " + strings.ReplaceAll(entryColumns, ",", " = ?,") +
			" = ? WHERE name = ? AND role = ? AND owner = ?"),
		deleteEntry:   l.text("DELETE FROM {t}_holders WHERE name = ? AND role = ? AND owner = ?"),
		deleteEntries: l.text("DELETE FROM {t}_holders WHERE name = ?"),
		dropAnswers:   l.text("DELETE FROM {t}_holders WHERE name = ? AND role = ? AND ends <= ?"),
		readAbout:     l.text("SELECT version, store, boot, began, floor" + l.now() + " FROM {t}_about"),
		raiseFloor:    l.text("UPDATE {t}_about SET floor = " + greatest + "(floor, ?)"),
		namesFrom: l.text("SELECT name, CASE WHEN touched <= " + l.Kind.Clock() + " - ? THEN 1 ELSE 0 END FROM {t} " +
			"WHERE name > ? ORDER BY name LIMIT ?"),
		heldFrom: l.text("SELECT name FROM {t} WHERE name >= ? AND name > ? AND " + l.beginsText() +
			" AND (owner <> '' OR others > 0) ORDER BY name LIMIT ?"),
		namesOf: l.text("SELECT name FROM {t} WHERE client = ? UNION SELECT name FROM {t}_holders WHERE client = ? " +
			"ORDER BY name"),
	}
	return l
}

const (
	setColumns = "token, owner, first, tokens, since, ends, meta, client, kind, latch, permits, others, freed, touched"
	setCount   = 14

	nameColumns = "name, " + setColumns

	entryKey     = "role, owner"
	entryColumns = "mode, permits, upgradeable, token, tokens, since, ends, place, meta, client"
	entryCount   = 10
)

// text writes a statement in the words of the database.
func (l *Layout) text(statement string) string {
	return l.Kind.Place(strings.ReplaceAll(statement, "{t}", l.Table))
}

// now is the database's clock as a last column. A file has none but that of its reader. It may be that of before the
// statement had to wait: a lease that is judged by it ends too early, never too late, and by then was asked for.
func (l *Layout) now() string {
	if l.Kind == sqlkind.SQLite {
		return ", 0"
	}
	return ", " + l.Kind.Clock()
}

// ensureText makes the row of a name that has none. Its tokens begin at the clock, and above those of names that are
// forgotten.
func (l *Layout) ensureText() string {
	clock := l.Kind.Clock()
	values := " (name, token, touched) SELECT ?, GREATEST(" + clock + " - 1000, floor), " + clock + " FROM {t}_about"
	if l.Kind == sqlkind.MySQL {
		return l.text("INSERT IGNORE INTO {t}" + values)
	}
	return l.text("INSERT INTO {t}" + values + " ON CONFLICT (name) DO NOTHING")
}

// beginsText compares the first bytes of a name with a parameter, which it has twice.
func (l *Layout) beginsText() string {
	switch l.Kind {
	case sqlkind.MySQL:
		return "LEFT(name, LENGTH(?)) = ?"
	case sqlkind.Postgres:
		return "substr(name, 1, length(CAST(? AS TEXT))) = CAST(? AS TEXT)"
	default:
		return "substr(name, 1, length(?)) = ?"
	}
}
