package remote

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// inlined runs statements of MySQL over one connection, with their values written into them: its driver would prepare
// each of them anew, which takes two more round trips, and those that are prepared for a pool run over any connection.
type inlined struct{ conn *sql.Conn }

// ExecContext implements [rows.Querier].
func (q inlined) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	text, err := inline(query, args)
	if err != nil {
		return nil, err
	}
	return q.conn.ExecContext(ctx, text)
}

// QueryContext implements [rows.Querier].
func (q inlined) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	text, err := inline(query, args)
	if err != nil {
		return nil, err
	}
	return q.conn.QueryContext(ctx, text)
}

// inline writes values in place of the question marks of a statement.
func inline(query string, args []any) (string, error) {
	var b strings.Builder
	for _, value := range args {
		before, after, found := strings.Cut(query, "?")
		if !found {
			return "", fmt.Errorf("%d values are too many for %q", len(args), query)
		}
		b.WriteString(before)
		if err := writeLiteral(&b, value); err != nil {
			return "", err
		}
		query = after
	}
	if strings.Contains(query, "?") {
		return "", fmt.Errorf("%d values are too few for %q", len(args), query)
	}
	b.WriteString(query)
	return b.String(), nil
}

// writeLiteral writes a value. The letters of a text are numbers: none of them is to be escaped, whatever the mode of
// the session and its characters.
func writeLiteral(b *strings.Builder, value any) error {
	switch v := value.(type) {
	case int:
		b.WriteString(strconv.Itoa(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case string:
		if utf8.ValidString(v) {
			b.WriteString("_utf8mb4 ") // else it is none of characters
		}
		b.WriteString("X'" + hex.EncodeToString([]byte(v)) + "'")
	default:
		return fmt.Errorf("a value of type %T is in no statement", value)
	}
	return nil
}
