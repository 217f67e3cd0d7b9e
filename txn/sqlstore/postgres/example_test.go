package postgres_test

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn/sqlstore/postgres"
)

// A store with connections of its own.
func ExampleOpen() {
	ctx := context.Background()
	store, err := postgres.Open(ctx, "postgres://bedrock:secret@db.example/bedrock?sslmode=verify-full", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	co, err := coord.New(store, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := co.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer co.Stop(ctx)
}

// A store in the database that the program has already: a transaction can be submitted
// inside one of its own, see coord.Coordinator.SubmitTx.
func ExampleNew() {
	db, err := sql.Open("pgx", "postgres://bedrock:secret@db.example/shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	store, err := postgres.New(context.Background(), db, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
}
