package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/sqllock/mysql"
)

func ExampleNew() {
	db, err := sql.Open("mysql", "app:secret@tcp(db:3306)/app")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	locks, err := mysql.New(db, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer locks.Stop(ctx)
	err = lock.Do(ctx, locks.Mutex("nightly-report", nil), func(_ context.Context, _ *lock.Lease) error {
		return nil // write the report, with the lease's token; its context ends if the lock is lost
	}, nil)
	fmt.Println(err)
}

func ExampleSchema() {
	text, err := mysql.Schema(&mysql.Options{Table: "app_locks"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text[:len("CREATE TABLE IF NOT EXISTS app_locks")])
	// Output: CREATE TABLE IF NOT EXISTS app_locks
}

// Jobs that programs in Java lock by ShedLock.
func ExampleNew_shedLock() {
	db, err := sql.Open("mysql", "app:secret@tcp(db:3306)/app")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	locks, err := mysql.New(db, &mysql.Options{Profile: mysql.ShedLock})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer locks.Stop(ctx)
	job := locks.Mutex("nightly-report", &lock.MutexOptions{
		TTL:     10 * time.Minute, // lockAtMostFor, but renewed as long as the program lives
		MinHold: time.Minute,      // lockAtLeastFor
	})
	if lease, err := job.TryLock(ctx); err == nil {
		defer lease.Unlock(ctx) // the row stays taken for the rest of the minute
	}
}
