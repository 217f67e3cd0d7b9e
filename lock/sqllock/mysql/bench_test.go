package mysql_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/mysql"
)

// BenchmarkPair has one goroutine take and give back one lock.
func BenchmarkPair(b *testing.B) {
	site := sqltest.MariaDB(b)
	c, err := mysql.New(site.Connect(b, site.DSN(sqltest.Database)), nil)
	if err != nil {
		b.Fatal(err)
	}
	sqltest.BenchmarkPair(b, c)
}
