package mysql_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// TestChainIsNeverCommitted: where completion_type is CHAIN the end of a transaction begins the next one, over a
// connection that goes back to the pool, and what is granted over it later is seen by nobody else.
func TestChainIsNeverCommitted(t *testing.T) {
	site := sqltest.MariaDB(t)
	dsn := site.Fresh(t)
	chained, other := site.Backend(t, dsn+"&completion_type=1", open), site.Backend(t, dsn, open)
	for _, name := range []string{"first", "next"} {
		if _, err := chained.Acquire(t.Context(), sqltest.Request(name, "o:1")); err != nil {
			t.Fatal(err)
		}
		info, err := other.(driver.Inspector).Inspect(t.Context(), name)
		if err != nil || len(info.Holders) != 1 {
			t.Errorf("o:1 has it, and others see %+v, %v", info, err)
		}
	}
}
