package rows

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// Row is a name's state, and what the tables have of it.
type Row struct {
	State *ledger.State
	// Now is the database's clock, when the row was read.
	Now int64

	header header
	before []ledger.Entry
	known  bool
}

// header is what the row of a name has, but for the name: what is compared to see whether it has changed.
type header struct {
	token, first                     uint64
	tokens, latch, permits, others   int
	since, ends, touched             int64
	owner, meta, client, kind, freed string
}

// Load reads the state of a name. Of the answers to calls it has that of the ID alone.
func (l *Layout) Load(ctx context.Context, q Querier, name, id string) (*Row, error) {
	return l.load(ctx, q, l.texts.readName, name, id)
}

// Lock reads the state of a name that has a row, and has nobody else change it before the transaction ends.
func (l *Layout) Lock(ctx context.Context, q Querier, name, id string) (*Row, error) {
	return l.load(ctx, q, l.texts.lockName, name, id)
}

// LockFree is [Layout.Lock] of a row that nobody has: else it looks as if it were not there.
func (l *Layout) LockFree(ctx context.Context, q Querier, name, id string) (*Row, error) {
	return l.load(ctx, q, l.texts.lockFree, name, id)
}

// Ensure makes the row of a name.
func (l *Layout) Ensure(ctx context.Context, q Querier, name string) error {
	_, err := q.ExecContext(ctx, l.texts.ensureName, name)
	return err
}

func (l *Layout) load(ctx context.Context, q Querier, text, name, id string) (*Row, error) {
	r := &Row{State: &ledger.State{Name: name}}
	if err := r.readName(ctx, q, text); err != nil || !r.known {
		return r, err
	}
	var err error
	if r.header.others > 0 || id != "" { // what is behind others, or an answer
		err = l.loadEntries(ctx, q, r, id)
	}
	r.before = slices.Clone(r.State.Entries)
	return r, err
}

func (r *Row) readName(ctx context.Context, q Querier, text string) error {
	rows, err := q.QueryContext(ctx, text, r.State.Name)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() { // to the end: what is left would be read without a context
		r.known = true
		if err := r.scanName(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (r *Row) scanName(rows *sql.Rows) error {
	h, s := &r.header, r.State
	var name string
	if err := rows.Scan(&name, &h.token, &h.owner, &h.first, &h.tokens, &h.since, &h.ends, &h.meta, &h.client, &h.kind,
		&h.latch, &h.permits, &h.others, &h.freed, &h.touched, &r.Now); err != nil {
		return err
	}
	s.Token, s.Known, s.Limit, s.Count, s.Touched = h.token, true, h.permits, h.latch, h.touched
	s.Freed = splitFreed(h.freed)
	if h.owner != "" {
		s.Entries = append(s.Entries, ledger.Entry{
			Role: ledger.Holder, Owner: h.owner, Token: h.first, Tokens: h.tokens, Since: h.since, Until: h.ends,
			Meta: h.meta, Client: h.client,
		})
	}
	return nil
}

// keptOfFreed is how much is kept of who has released a name, by statements that write that themselves.
const keptOfFreed = 1024

// splitFreed reads who has released a name. The last one may have been cut off, and would be somebody else.
func splitFreed(text string) []string {
	if text == "" {
		return nil
	}
	freed := strings.Split(text, "\n")
	if len(text) >= keptOfFreed {
		freed = freed[:len(freed)-1]
	}
	return freed
}

func (l *Layout) loadEntries(ctx context.Context, q Querier, r *Row, id string) error {
	rows, err := q.QueryContext(ctx, l.texts.readEntries, r.State.Name, ledger.Answer.String(), id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e ledger.Entry
		var role, mode string
		if err := rows.Scan(&role, &e.Owner, &mode, &e.Permits, &e.Upgradeable, &e.Token, &e.Tokens, &e.Since, &e.Until,
			&e.Place, &e.Meta, &e.Client); err != nil {
			return err
		}
		var known bool
		if e.Role, known = ledger.ParseRole(role); !known {
			return fmt.Errorf("%s_holders has the role %q, which this program does not know", l.Table, role)
		}
		if e.Mode, err = driver.ParseMode(mode); err != nil {
			return err
		}
		r.State.Entries = append(r.State.Entries, e)
	}
	slices.SortStableFunc(r.State.Entries, func(a, b ledger.Entry) int {
		return int(a.Since - b.Since) // as they have come
	})
	return rows.Err()
}

// Names returns names after one, in order, and those of them that nobody has touched for so long.
func (l *Layout) Names(
	ctx context.Context, q Querier, after string, n int, untouched time.Duration,
) (all, idle []string, err error) {
	rows, err := q.QueryContext(ctx, l.texts.namesFrom, untouched.Microseconds(), after, n)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var isIdle int
		if err := rows.Scan(&name, &isIdle); err != nil {
			return nil, nil, err
		}
		if all = append(all, name); isIdle == 1 {
			idle = append(idle, name)
		}
	}
	return all, idle, rows.Err()
}

// Held returns names that begin with a prefix and that somebody may have, after one, in order.
func (l *Layout) Held(ctx context.Context, q Querier, prefix, after string, n int) ([]string, error) {
	return readNames(q.QueryContext(ctx, l.texts.heldFrom, prefix, after, prefix, prefix, n))
}

// Of returns the names that a client has, in order.
func (l *Layout) Of(ctx context.Context, q Querier, client string) ([]string, error) {
	return readNames(q.QueryContext(ctx, l.texts.namesOf, client, client))
}

func readNames(rows *sql.Rows, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
