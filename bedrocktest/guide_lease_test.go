package bedrocktest_test

import (
	"testing"
	"testing/synctest"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestJobStopsWhenItsLockIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := bedrocktest.NewBackend(memlock.NewBackend(nil))
		locks, err := lock.New(backend, nil)
		if err != nil {
			t.Fatal(err)
		}
		lease, err := locks.Mutex("jobs/reindex", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		backend.TakeAway(t, "jobs/reindex") // as an operator would

		bedrocktest.Lost(t, lease) // lease.Context() has ended
	})
}
