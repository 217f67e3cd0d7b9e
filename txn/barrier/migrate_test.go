package barrier_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// testOwnTable: a table under another name, in another schema, made by several at
// once.
func testOwnTable(t *testing.T, e *engine) {
	table := "marks_" + string(e.layout)
	switch e.dialect {
	case barrier.MySQL:
		e.exec(t, "CREATE DATABASE IF NOT EXISTS other")
		table = "other." + table
	case barrier.Postgres:
		e.exec(t, "CREATE SCHEMA IF NOT EXISTS other")
		table = "other." + table
	case barrier.SQLite:
	}
	b, err := barrier.New(e.db, e.dialect, &barrier.Options{Layout: e.layout, Table: table})
	if err != nil {
		t.Fatal(err)
	}
	migrate := func() {
		if err := b.Migrate(t.Context()); err != nil {
			t.Error(err)
		}
	}
	together(migrate, migrate, migrate, migrate, migrate, migrate)
	nothing := func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil }
	for _, want := range []barrier.Verdict{barrier.Ran, barrier.Duplicate} {
		if _, v, err := b.Do(t.Context(), call(id(t, "x"), "action"), nothing); v != want || err != nil {
			t.Errorf("%v, %v; want %v", v, err, want)
		}
	}
	var marks int
	if err := e.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&marks); err != nil || marks != 1 {
		t.Errorf("%d marks in %s, %v", marks, table, err)
	}
}

// TestTableOfSeveralSpellingsIsMadeAtOnce: PostgreSQL takes Marks and public.marks for one table.
func TestTableOfSeveralSpellingsIsMadeAtOnce(t *testing.T) {
	t.Parallel()
	s := testenv.StartPostgres(t, nil)
	s.CreateDatabase("spellings")
	db, err := sql.Open("pgx", s.DSN("spellings"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for round := range 30 {
		var calls []func()
		for _, name := range []string{"Marks%d", "marks%d", "public.marks%d", "public.MARKS%d"} {
			b, err := barrier.New(db, barrier.Postgres, &barrier.Options{Table: fmt.Sprintf(name, round)})
			if err != nil {
				t.Fatal(err)
			}
			migrate := func() {
				if err := b.Migrate(t.Context()); err != nil {
					t.Error(err)
				}
			}
			calls = append(calls, migrate, migrate)
		}
		together(calls...)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, bad := range []struct {
		d    barrier.Dialect
		opts *barrier.Options
	}{
		{barrier.SQLite, &barrier.Options{Layout: barrier.DTM}},
		{barrier.SQLite, &barrier.Options{Table: "a.b"}},
		{barrier.MySQL, &barrier.Options{Layout: "seata"}},
		{barrier.MySQL, &barrier.Options{Table: "x; DROP TABLE y"}},
		{barrier.MySQL, &barrier.Options{Table: "a.b.c"}},
		{"oracle", nil},
		{barrier.MySQL, nil}, // no database
	} {
		if _, err := barrier.New(nil, bad.d, bad.opts); !errors.Is(err, input.ErrInvalid) {
			t.Errorf("%s, %+v: %v", bad.d, bad.opts, err)
		}
	}
}
