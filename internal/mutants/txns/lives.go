package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// lifeMutants let a write through that was meant for an earlier record with the same ID.
func lifeMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "postgres: an earlier life writes", File: "txn/sqlstore/postgres/statement.go",
			Pkg:  "txn/sqlstore/postgres",
			Old:  " AND t.created = v.was_created RETURNING",
			New:  " RETURNING",
			Test: conformance("EarlierLifeWrites"),
		},
		{
			Name: "mysql: an earlier life writes in a packet", File: "txn/sqlstore/mysql/packet.go",
			Pkg:  "txn/sqlstore/mysql",
			Old:  " OR created <> VALUES(created)",
			New:  "",
			Test: conformance("EarlierLifeWrites"),
		},
		{
			Name: "redis: an earlier life writes", File: "txn/redisstore/scripts/update.lua", Pkg: "txn/redisstore",
			Old:  " or old[3] ~= ARGV[4] then",
			New:  " then",
			Test: "TestConformanceStandalone/goredis/EarlierLifeWrites",
		},
		{
			Name: "sqlite: an earlier life writes", File: "txn/sqlstore/sqlite/write.go", Pkg: sqlite,
			Old:  "AND epoch = ? AND created = ?",
			New:  "AND epoch = ? AND ? <> 0",
			Test: conformance("EarlierLifeWrites"),
		},
	}
}
