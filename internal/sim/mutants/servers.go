package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// Seeds whose first faults are those that it takes: on a slow machine there is time for no
// more than two.
const (
	restartFirst  = "3"
	fullDiskEarly = "3"
)

// serverMutants are faults beside a real server, which torture has to find.
func serverMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "replicas are counted once", File: "lock/redislock/replicas.go",
			Old: "	life := countLife\n	if r.count == 0 || r.count < r.needed {\n" +
				"		life = lowCountLife\n	}\n" +
				"	return r.needed, !r.counted.IsZero() && time.Since(r.counted) < life\n",
			New:     "	return r.needed, !r.counted.IsZero()\n",
			Torture: []string{"torture", "locks", "--start", "replica", "--for", "20s", "--seed", restartFirst},
		},
		{
			Name: "prepared statements outlive their connection", File: "txn/sqlstore/sqlite/session.go",
			Old:     "return errors.Join(s.stmts.close(), s.connection.Close())",
			New:     "return s.connection.Close()",
			Torture: []string{"torture", "tx", "--start", "sqlite", "--for", "15s", "--seed", fullDiskEarly},
		},
		{
			Name: "a caller that has gone leaves its lock", File: "server/lock_clean.go",
			Old:     "if doubt := none.After(err); doubt != nil {",
			New:     "if doubt := none.After(err); doubt != nil && err == nil {",
			Torture: []string{"torture", "locks", "--start", "server", "--for", "15s"},
		},
	}
}
