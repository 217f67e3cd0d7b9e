package barrier_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// BenchmarkDo compares a local transaction with one behind a barrier.
func BenchmarkDo(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		benchmark(b, "sqlite", sqliteDSN(b.TempDir()+"/x.db"), barrier.SQLite)
	})
	b.Run("mariadb", func(b *testing.B) {
		s := testenv.StartMariaDB(b, nil)
		s.CreateDatabase("business")
		benchmark(b, "mysql", s.DSN("business")+"&interpolateParams=true", barrier.MySQL)
	})
	b.Run("postgres", func(b *testing.B) {
		s := testenv.StartPostgres(b, nil)
		s.CreateDatabase("business")
		benchmark(b, "pgx", s.DSN("business"), barrier.Postgres)
	})
}

func benchmark(b *testing.B, driver, dsn string, d barrier.Dialect) {
	b.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(b.Context(), "CREATE TABLE account (id INT PRIMARY KEY, balance INT)"); err != nil {
		b.Fatal(err)
	}
	if _, err := db.ExecContext(b.Context(), "INSERT INTO account VALUES (1, 0)"); err != nil {
		b.Fatal(err)
	}
	bar, err := barrier.New(db, d, nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := bar.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	work := func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + 1 WHERE id = 1")
		return nil, err
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			bare(b, db, work)
		}
	})
	n := 0
	b.Run("barrier", func(b *testing.B) {
		for b.Loop() {
			n++
			if _, v, err := bar.Do(b.Context(), call(fmt.Sprint(n), "action"), work); v != barrier.Ran {
				b.Fatal(v, err)
			}
		}
	})
	b.Run("duplicate", func(b *testing.B) {
		for b.Loop() {
			again := txn.Call{Transaction: "1", Branch: "pay", Op: "action"}
			if _, v, err := bar.Do(b.Context(), again, work); v != barrier.Duplicate {
				b.Fatal(v, err)
			}
		}
	})
}

// bare is the local transaction alone.
func bare(b *testing.B, db *sql.DB, work barrier.Work) {
	b.Helper()
	tx, err := db.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := work(b.Context(), tx); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}
