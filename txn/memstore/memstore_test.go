package memstore_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/txntest"
)

func TestConformance(t *testing.T) {
	txntest.Run(t, func(testing.TB) driver.Store { return memstore.New(nil) })
}
