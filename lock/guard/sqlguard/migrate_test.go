package sqlguard_test

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/guard/sqlguard"
)

// TestTableOfSeveralSpellingsIsMadeAtOnce: PostgreSQL takes Fences and public.fences for one table.
func TestTableOfSeveralSpellingsIsMadeAtOnce(t *testing.T) {
	t.Parallel()
	s := testenv.StartPostgres(t, nil)
	s.CreateDatabase("data")
	db, err := sql.Open("pgx", s.DSN("data"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	failed := 0
	var last error
	for round := range 30 {
		var all sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			name := []string{"Fences%d", "fences%d", "public.fences%d", "public.FENCES%d"}[i%4]
			g, err := sqlguard.New(db, sqlguard.Postgres, &sqlguard.Options{Table: fmt.Sprintf(name, round)})
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() { errs[i] = g.Migrate(t.Context()) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			failed++
			last = err
		}
	}
	if failed > 0 {
		t.Errorf("%d of 30 migrations failed, such as: %v", failed, last)
	}
}
