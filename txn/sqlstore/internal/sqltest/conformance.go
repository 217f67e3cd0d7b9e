package sqltest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
	"github.com/bedrock-go/bedrock/txn/txntest"
)

// Conformance runs the suite for all stores, each behaviour on a table of its own.
func (s Subject) Conformance(t *testing.T) {
	t.Helper()
	var tables atomic.Int64
	txntest.Run(t, func(t testing.TB) driver.Store {
		opts := &sqlstore.Options{Table: fmt.Sprint("tx", tables.Add(1))}
		return twin{s.Store(t, opts), s, opts}
	})
}

// twin is a store whose table can be opened again, as by another replica.
type twin struct {
	*sqlstore.Store
	subject Subject
	opts    *sqlstore.Options
}

// Twin implements [txntest.Twin].
func (s twin) Twin(t testing.TB) driver.Store {
	t.Helper()
	return s.subject.Store(t, s.opts)
}
