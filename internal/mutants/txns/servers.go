package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// serverMutants are faults in what stores on servers have of their own.
func serverMutants() []mutants.Mutant {
	const (
		postgres = "txn/sqlstore/postgres"
		mysql    = "txn/sqlstore/mysql"
		redis    = "txn/redisstore"
		scripts  = "txn/redisstore/scripts/"
	)
	onRedis := func(behaviour string) string { return "TestConformanceStandalone/goredis/" + behaviour }
	return []mutants.Mutant{
		{
			Name: "postgres: anybody's epoch writes", File: postgres + "/statement.go", Pkg: postgres,
			Old:  " AND t.epoch = v.was_epoch AND",
			New:  " AND",
			Test: conformance("StaleEpochWrites"),
		},
		{
			Name: "postgres: an account has its own encoding", File: postgres + "/postgres.go", Pkg: postgres,
			Old:  "[\"client_encoding\"] = \"UTF8\"",
			New:  "[\"application_name\"] = \"UTF8\"",
			Test: "TestAccountOfAnotherEncoding",
		},
		{
			Name: "mysql: anybody's epoch writes", File: "txn/sqlstore/record.go", Pkg: mysql,
			Old:  "id = ? AND revision = ? AND epoch = ? AND",
			New:  "id = ? AND revision = ? AND ? > 0 AND",
			Test: conformance("StaleEpochWrites"),
		},
		{
			Name: "mysql: anybody's epoch writes in a packet", File: mysql + "/packet.go", Pkg: mysql,
			Old:  " OR epoch <> CAST(VALUES(digest) AS SIGNED)",
			New:  "",
			Test: conformance("StaleEpochWrites"),
		},
		{
			Name: "mysql: a packet revives what was deleted", File: mysql + "/packet.go", Pkg: mysql,
			Old:  " + (ROW_COUNT() <> ?); COMMIT",
			New:  " + (ROW_COUNT() > 2 * ?); COMMIT",
			Test: conformance("DeletedRecordIsRevived"),
		},
		{
			Name: "redis: anybody's epoch writes", File: scripts + "update.lua", Pkg: redis,
			Old:  "if old[1] ~= ARGV[2] or old[2] ~= ARGV[3] or",
			New:  "if old[1] ~= ARGV[2] or",
			Test: onRedis("StaleEpochWrites"),
		},
		{
			Name: "redis: what is no transaction is counted", File: "txn/redisstore/count.go", Pkg: redis,
			Old:  "	all := driver.Statuses()",
			New:  "	all := append(driver.Statuses(), driver.Kept)",
			Test: onRedis("KeptRecordIsCounted"),
		},
		{
			Name: "redis: clean-up ignores the version", File: scripts + "delete.lua", Pkg: redis,
			Old:  "if r[1] == revision and r[2] == epoch and r[3] == created and final[r[4]] then",
			New:  "if final[r[4]] then",
			Test: onRedis("ChangedRecordIsDeleted"),
		},
		{
			Name: "redis: a claim leaves the epoch", File: scripts + "take.lua", Pkg: redis,
			Old:  "'', owner, raised(r[9]), expiry",
			New:  "'', owner, r[9], expiry",
			Test: onRedis("OvertakenOwnerWrites"),
		},
		{
			Name: "redis: a claim takes what is not due", File: scripts + "take.lua", Pkg: redis,
			Old:  "  return is.due and tonumber(is.due) <= clock\n",
			New:  "  return is.due\n",
			Test: onRedis("RecordIsClaimedTwice"),
		},
	}
}
