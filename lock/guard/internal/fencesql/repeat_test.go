package fencesql_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/guard/internal/fencesql"
)

// TestADeadlockIsTheEnd: what the database has rolled back for the sake of others is made again, up to eight times;
// nothing else is.
func TestADeadlockIsTheEnd(t *testing.T) {
	t.Parallel()
	collision, refusal := &pgconn.PgError{Code: "40001"}, &pgconn.PgError{Code: "42601"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx   context.Context //nolint:containedctx // of one call
		fails int             // how often, before it works
		with  error
		tries int
		want  error
	}{
		{t.Context(), 0, nil, 1, nil},
		{t.Context(), 3, collision, 4, nil},
		{t.Context(), 99, collision, 8, collision},
		{t.Context(), 99, refusal, 1, refusal},
		{ctx, 99, collision, 1, context.Canceled},
	} {
		tries := 0
		err := fencesql.RepeatDeadlocked(c.ctx, sqlkind.Postgres, func() error {
			if tries++; tries <= c.fails {
				return c.with
			}
			return nil
		})
		if tries != c.tries || !errors.Is(err, c.want) || (err != nil) != (c.want != nil) {
			t.Errorf("%+v: %v after %d tries", c, err, tries)
		}
	}
}
