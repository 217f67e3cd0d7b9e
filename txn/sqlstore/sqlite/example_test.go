package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "bedrock-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(folder, "bedrock.db"), nil)
	if err != nil {
		log.Print(err)
		return
	}
	defer store.Close()
	err = store.Create(ctx, &driver.Record{ID: "order-42", Mode: "saga", Status: driver.Running})
	fmt.Println("created:", err == nil)
	// Output: created: true
}
