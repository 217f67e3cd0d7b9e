package latch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bedrock-go/bedrock/lock/latch"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// Example waits for three parts of one job, each of which may be done by another process.
func Example() {
	locks, err := memlock.New(nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	parts := latch.New(locks, "import/42", nil)
	if _, err := parts.Set(ctx, 3); err != nil {
		log.Fatal(err)
	}
	for range 3 {
		go func() {
			if _, err := parts.CountDown(ctx); err != nil {
				log.Print(err)
			}
		}()
	}
	if err := parts.Await(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("all are there")
	if err := locks.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: all are there
}
