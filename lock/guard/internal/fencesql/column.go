package fencesql

import (
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/guard"
)

// Column is a column of the user's own table that has the newest token of each row.
type Column struct {
	// Table and Key say where the row is, Fence what its column is called.
	Table, Key, Fence string
	// Raise writes a token to a row that knows none newer. Its parameters are token, key and token.
	Raise string
	// Newest returns the token of a row as it is now, and locks the row. Its parameter is the key.
	Newest string
	// countsChanges says that the database may tell how many rows a statement has changed, and not how many it has
	// found.
	countsChanges bool
}

// NewColumn returns the statements for a kind of database. The columns are id and fence if nothing else is said.
func NewColumn(kind sqlkind.Kind, table, key, fence string) (*Column, error) {
	if !kind.Known() {
		return nil, input.Errorf("dialect", "%q: want mysql, postgres or sqlite", kind)
	}
	if err := checkTable(kind, table); err != nil {
		return nil, err
	}
	if key == "" {
		key = "id"
	}
	if fence == "" {
		fence = "fence"
	}
	for _, c := range [...]struct{ field, name string }{{"key", key}, {"fence", fence}} {
		if !columnPattern.MatchString(c.name) {
			return nil, input.Errorf(c.field, "%q: want the plain name of a column", c.name)
		}
	}
	forUpdate := " FOR UPDATE"
	if kind == sqlkind.SQLite { // whose writer is alone
		forUpdate = ""
	}
	return &Column{
		Table: table, Key: key, Fence: fence,
		Raise: kind.Place("UPDATE " + table + " SET " + fence + " = ? WHERE " + key + " = ? AND " + fence + " <= ?"),
		Newest: kind.Place("SELECT " + fence + " FROM " + table + " WHERE " + key + " = ?" +
			forUpdate),
		countsChanges: kind == sqlkind.MySQL,
	}, nil
}

// ErrNoRow says that the row which a column was to guard is not there.
var ErrNoRow = errors.New("no such row")

// NoRow says which row is not there.
func (c *Column) NoRow(key any) error {
	return fmt.Errorf("%w: table %s has none where %s is %v", ErrNoRow, c.Table, c.Key, key)
}

// Explain says why a statement with the condition fence <= token has touched no row, by what the row has now.
// It may have touched one that did not change.
func (c *Column) Explain(t guard.Ticket, key any, newest *int64) error {
	if newest == nil {
		return fmt.Errorf("column %s of table %s is NULL where %s is %v: it must be NOT NULL DEFAULT 0",
			c.Fence, c.Table, c.Key, key)
	}
	err := guard.Compare(t, uint64(max(*newest, 0)))
	if err != nil || c.countsChanges && uint64(*newest) == t.Token {
		return err
	}
	return fmt.Errorf("no row of table %s was touched, and token %d where %s is %v would not be in the way:"+
		" does the statement name this row, and set %s?", c.Table, *newest, c.Key, key, c.Fence)
}
