package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "locks")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	locks, err := sqlite.Open(filepath.Join(folder, "locks.db"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer locks.Stop(ctx)
	lease, err := locks.Mutex("nightly-report", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("has it:", lease.Err() == nil)
	fmt.Println(lease.Unlock(ctx))
	// Output:
	// has it: true
	// <nil>
}
