package barrier

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/bedrock-go/bedrock/input"
)

// Layout is the shape of the barrier's table.
type Layout string

const (
	// Native keeps results and refusals.
	Native Layout = "native"
	// DTM is the table of DTM's client libraries, for services that are moving, or
	// that share a database with participants of DTM: each recognises the other's
	// marks. It keeps no results and no refusals. Not for SQLite.
	DTM Layout = "dtm"
)

// layout is how marks are kept: the queries, and what the columns can hold.
type layout struct {
	table   string
	schema  []string
	insertQ string
	args    func(mark) []any // of insertQ
	readQ   string
	keepQ   string // empty when there is no room for results
	retakeQ string // empty when there is no room for refusals
	clockQ  string
	oldQ    string
	removeQ string // ends where the list of transactions begins

	dialect          Dialect
	origins          map[string]string
	words            map[string]string // operations that are called otherwise here
	maxName, maxWord int               // bytes

	// A message's mark has a key of its own, and one of two causes.
	message           key // without the transaction
	prepared, checked string
	// bothMarks: an empty compensation leaves a mark of its own, too.
	bothMarks bool
	// sharedTable: the table may have rows of somebody else's transactions.
	sharedTable bool
}

var tablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?$`)

func newLayout(d Dialect, kind Layout, table string) (*layout, error) {
	if !d.kind().Known() {
		return nil, input.Errorf("dialect", "%q: want mysql, postgres or sqlite", d)
	}
	if table != "" && !tablePattern.MatchString(table) {
		return nil, input.Errorf("table", "%q: want a plain name, perhaps after that of a schema and a dot", table)
	}
	if d == SQLite && strings.Contains(table, ".") {
		return nil, input.Errorf("table", "%q: SQLite takes no name of a schema here", table)
	}
	switch {
	case kind == "" || kind == Native:
		return newNative(d, table), nil
	case kind == DTM && d != SQLite:
		return newDTM(d, table), nil
	case kind == DTM:
		return nil, input.Errorf("layout", "%q is not for %s", kind, d)
	default:
		return nil, input.Errorf("layout", "%q: want native or dtm", kind)
	}
}

// remembers reports whether refusals are kept.
func (l *layout) remembers() bool { return l.retakeQ != "" }

// word is what an operation is called in the table.
func (l *layout) word(op string) string {
	if word, ok := l.words[op]; ok {
		return word
	}
	return op
}

// insert sets a mark, unless there is one. It waits for whoever is about to set it.
func (l *layout) insert(ctx context.Context, tx Tx, m mark) (fresh bool, err error) {
	return changedRow(tx.ExecContext(ctx, l.insertQ, l.args(m)...))
}

// cause returns the cause of the mark with a key; empty if there is no mark.
func (l *layout) cause(ctx context.Context, tx Tx, k key) (string, error) {
	m, err := l.read(ctx, tx, k)
	if errors.Is(err, errNoMark) {
		return "", nil
	}
	return m.cause, err
}

// errNoMark says that nothing was found where a mark should be.
var errNoMark = errors.New("the mark was removed meanwhile")

// read finds a mark that is known to be there.
func (l *layout) read(ctx context.Context, tx Tx, k key) (mark, error) {
	m := mark{}
	err := tx.QueryRowContext(ctx, l.readQ, k.args()...).
		Scan(&m.transaction, &m.branch, &m.op, &m.cause, &m.epoch, &m.attempt, &m.result)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return m, errNoMark
	case err == nil && m.key != k: // DTM's columns ignore case and trailing spaces
		return m, fmt.Errorf("the table cannot tell transaction %q, branch %q, from %q, %q",
			k.transaction, k.branch, m.transaction, m.branch)
	}
	return m, err
}

// addResult adds the result to a mark.
func (l *layout) addResult(ctx context.Context, tx Tx, m mark, result []byte) error {
	if l.keepQ == "" || result == nil {
		return nil
	}
	kept, err := changedRow(tx.ExecContext(ctx, l.keepQ, append([]any{result}, m.args()...)...))
	if err == nil && !kept {
		return errors.New("the mark is gone")
	}
	return err
}

// retake replaces the mark of a refusal by a younger one, unless somebody else was
// faster.
func (l *layout) retake(ctx context.Context, tx Tx, m mark) (taken bool, err error) {
	args := append([]any{m.cause, m.epoch, m.attempt, m.result}, m.args()...)
	return changedRow(tx.ExecContext(ctx, l.retakeQ, append(args, m.epoch, m.epoch, m.attempt)...))
}

// changedRow reports whether a statement has changed a row.
func changedRow(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}
