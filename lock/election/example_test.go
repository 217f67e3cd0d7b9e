package election_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// Example runs a function in one process at a time: the one that leads.
func Example() {
	locks, err := memlock.New(nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	e := election.New(locks, "scheduler", &election.Options{Meta: map[string]string{"address": "10.0.0.7:8080"}})
	err = e.Lead(ctx, func(ctx context.Context, t *election.Term) error {
		leader, err := e.Leader(ctx) // as any other process may ask
		if err != nil {
			return err
		}
		fmt.Println("leads:", leader.Meta["address"], leader.Token == t.Token())
		return nil // resigns
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := locks.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: leads: 10.0.0.7:8080 true
}

// ExampleElection_Observe sees who leads, and who leads next.
func ExampleElection_Observe() {
	locks, err := memlock.New(nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	e := election.New(locks, "scheduler", nil)
	for leader, err := range e.Observe(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if leader.Owner != "" {
			fmt.Println("somebody leads")
			break
		}
		fmt.Println("nobody leads")
		if _, err := e.Campaign(ctx); err != nil {
			log.Fatal(err)
		}
	}
	if err := locks.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// nobody leads
	// somebody leads
}
