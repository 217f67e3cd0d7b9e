package txntest_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/txntest"
)

// A store's own test hands over a new, empty store for every behaviour.
func ExampleRun() {
	_ = func(t *testing.T) {
		txntest.Run(t, func(testing.TB) driver.Store { return memstore.New(nil) })
	}
}
