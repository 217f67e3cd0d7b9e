package mysql_test

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn/sqlstore/mysql"
)

// A store with connections of its own.
func ExampleOpen() {
	ctx := context.Background()
	store, err := mysql.Open(ctx, "mysql://bedrock:secret@db.example:3306/bedrock?tls=true", nil)
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
	db, err := sql.Open("mysql", "bedrock:secret@tcp(db.example:3306)/shop?interpolateParams=true")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	store, err := mysql.New(context.Background(), db, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
}
