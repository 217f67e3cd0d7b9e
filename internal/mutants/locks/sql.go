package main

import "github.com/bedrock-go/bedrock/internal/mutants"

const (
	ledgerOfLocks = "lock/sqllock/internal/ledger"
	rowsOfLocks   = "lock/sqllock/internal/rows"
	lockFile      = "lock/sqllock/sqlite"
	lockPostgres  = "lock/sqllock/postgres"
	lockMySQL     = "lock/sqllock/mysql"
)

// ledgerMutants are faults in what is decided for locks in any database.
func ledgerMutants() []mutants.Mutant {
	const agree = "TestLedgerDecidesOtherwise"
	return []mutants.Mutant{
		{
			Name: "sql: anybody releases", File: ledgerOfLocks + "/state.go", Pkg: ledgerOfLocks,
			Old:  "	e := s.find(Holder, g.Owner)\n	if e == nil || e.Mode.Kind()",
			New:  "	e := s.firstOf(Holder)\n	if e == nil || e.Mode.Kind()",
			Test: agree,
		},
		{
			Name: "sql: a release is not remembered", File: ledgerOfLocks + "/release.go", Pkg: ledgerOfLocks,
			Old: "	s.rememberFreed(g.Owner)\n", New: "", Test: agree,
		},
		{
			Name: "sql: a writer who waits keeps nobody off", File: ledgerOfLocks + "/crowd.go", Pkg: lockFile,
			Old: "	s.putWaiting(Writer, req, c, c.endAfter(writerClaim))\n", New: "",
			Test: "TestConformance/WriterIsStarved",
		},
		{
			Name: "sql: who comes late is first in line", File: ledgerOfLocks + "/line.go", Pkg: ledgerOfLocks,
			Old: "line[len(line)-1].Place + 1", New: "line[0].Place - 1", Test: agree,
		},
		{
			Name: "sql: a renewal revives", File: ledgerOfLocks + "/state.go", Pkg: ledgerOfLocks,
			Old: "	s.remove(func(e *Entry) bool { return e.Until <= c.Now })\n",
			New: "	s.remove(func(e *Entry) bool { return e.Until <= c.Now && e.Role != Holder })\n", Test: agree,
		},
		{
			Name: "sql: tokens run ahead of the clock", File: ledgerOfLocks + "/tokens.go", Pkg: ledgerOfLocks,
			Old: "max(s.Token+1, uint64(max(c.Wall, 0)))", New: "max(s.Token+uint64(want), uint64(max(c.Wall, 0)))",
			Test: agree,
		},
		{
			Name: "sql: a latch counts a call twice", File: ledgerOfLocks + "/latch.go", Pkg: ledgerOfLocks,
			Old:  "	if a := s.find(Answer, id); a != nil {\n",
			New:  "	if a := s.find(Answer, id); a != nil && false {\n",
			Test: "TestLatchCountsACallTwice",
		},
		{
			Name: "sql: too many permits", File: ledgerOfLocks + "/crowd.go", Pkg: ledgerOfLocks,
			Old: "taken+req.Permits <= req.Limit", New: "taken < req.Limit", Test: agree,
		},
	}
}

// fileMutants are faults in keeping locks in a file.
func fileMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "sqlite: the leases of an earlier boot go on", File: rowsOfLocks + "/about.go", Pkg: lockFile,
			Old:  `"UPDATE {t} SET owner = '', ends = 0, others`,
			New:  `"UPDATE {t} SET others`,
			Test: "TestFileOfAnotherBootIsBelieved",
		},
		{
			Name: "sqlite: another machine is believed", File: lockFile + "/writer.go", Pkg: lockFile,
			Old: "	case about.Boot != f.boot:\n", New: "	case about.Boot == \"\":\n",
			Test: "TestFileOfAnotherBootIsBelieved",
		},
		{
			Name: "sqlite: a file that is gone is used", File: lockFile + "/file.go", Pkg: lockFile,
			Old: "	return err == nil && os.SameFile(i.info, info)\n", New: "	return err == nil || info == nil\n",
			Test: "TestRemovedFileIsUsed",
		},
		{
			Name: "sqlite: the dead are waited for", File: lockFile + "/alive.go", Pkg: lockFile,
			Old:  "	if names, err := f.freeAll(ctx, client); err != nil { // another time\n",
			New:  "	if names, err := []string(nil), error(nil); client != \"\" {\n",
			Test: "TestDeadHolderIsWaitedFor",
		},
		{
			Name: "sqlite: the living are taken for dead", File: lockFile + "/alive.go", Pkg: lockFile,
			Old: "	if locked, err := lockFile(found); err != nil || !locked {\n",
			New: "	if _, err := lockFile(found); err != nil {\n", Test: "TestDeadHolderIsWaitedFor",
		},
		{
			Name: "sqlite: who leaves is taken for dead", File: lockFile + "/alive.go", Pkg: lockFile,
			Old: "	err := os.Remove(s.path) //", New: "	var err error //", Test: "TestClosedClientLosesItsLocks",
		},
		{
			Name: "sqlite: a locked file is waited for without end", File: lockFile + "/writer.go", Pkg: lockFile,
			Old:  "context.WithTimeout(w.file.life, w.file.opts.BusyTimeout)",
			New:  "context.WithTimeout(w.file.life, 100*w.file.opts.BusyTimeout)",
			Test: "TestLockedFileHoldsCallersUp",
		},
		{
			Name: "sqlite: who writes hides the holder", File: lockFile + "/sqlite.go", Pkg: lockFile,
			Old: ", ReadFirst: true}", New: "}", Test: "TestLockedFileHidesTheHolder",
		},
		{
			Name: "sqlite: a release wakes nobody", File: lockFile + "/writer.go", Pkg: lockFile,
			Old: "	w.file.tellWoken(woken)\n", New: "	_ = woken\n", Test: "TestReleaseRingsNoBell",
		},
		{
			Name: "sqlite: idle names pile up", File: lockFile + "/sweep.go", Pkg: lockFile,
			Old: "	if len(idle) > 0 {", New: "	if len(idle) < 0 {", Test: "TestIdleNamesPileUp",
		},
		{
			Name: "sqlite: tokens of names that are forgotten go back", File: rowsOfLocks + "/save.go", Pkg: lockFile,
			Old: "		{l.texts.raiseFloor, int64(r.State.Token)},\n", New: "", Test: "TestIdleNamesPileUp",
		},
	}
}

// serverMutants are faults in keeping locks in rows of a server.
func serverMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "postgres: a lock that is held is had", File: lockPostgres + "/fast.go", Pkg: lockPostgres,
			Old:  "WHERE l.others = 0 AND (l.ends <= EXCLUDED.since OR",
			New:  "WHERE l.others = 0 AND (TRUE OR",
			Test: "TestConformance/TwoHoldersAtOnce",
		},
		{
			Name: "postgres: readers are overlooked", File: lockPostgres + "/fast.go", Pkg: lockPostgres,
			Old:  "WHERE l.others = 0 AND (l.ends",
			New:  "WHERE (l.ends",
			Test: "TestConformance/KindsMeet",
		},
		{
			Name: "postgres: anybody frees a mutex", File: lockPostgres + "/fast.go", Pkg: lockPostgres,
			Old:  "WHERE name = $1::text AND owner = $2::text AND others = 0 AND ends > {now}\nRETURNING CASE",
			New:  "WHERE name = $1::text AND owner <> $2::text || ' ' AND others = 0 AND ends > {now}\nRETURNING CASE",
			Test: "TestConformance/StrangerReleases",
		},
		{
			Name: "postgres: a pool of one is used up", File: lockPostgres + "/hub.go", Pkg: lockPostgres,
			Old: "MaxOpenConnections == 1", New: "MaxOpenConnections == -1", Test: "TestDatabase/PoolOfOneIsUsedUp",
		},
		{
			Name: "postgres: what was missed is not asked for", File: lockPostgres + "/hub.go", Pkg: lockPostgres,
			Old: "	h.signalAll() // what was told before was missed\n", New: "",
			Test: "TestDatabase/WaiterLosesItsConnection",
		},
		{
			Name: "postgres: nobody is told of releases", File: lockPostgres + "/fast.go", Pkg: lockPostgres,
			Old: "CASE WHEN waited > {now} THEN pg_notify", New: "CASE WHEN waited < 0 THEN pg_notify",
			Test: "TestConformance/ReleaseWakesNobody",
		},
		{
			Name: "mysql: a lock that is held is had", File: lockMySQL + "/fast.go", Pkg: lockMySQL,
			Old:  "WHERE name = ? AND others = 0 AND ends <= {now} AND token",
			New:  "WHERE name = ? AND others = 0 AND token",
			Test: "TestConformance/TwoHoldersAtOnce",
		},
		{
			Name: "mysql: what is not committed counts", File: lockMySQL + "/fast.go", Pkg: lockMySQL,
			Old: "	return own == 1\n", New: "	b.commits.Store(yes)\n	return true\n",
			Test: "TestDatabase/SettingMatters0",
		},
		{
			Name: "mysql: a second name is read as of before", File: lockMySQL + "/mysql.go", Pkg: lockMySQL,
			Old:  "ISOLATION LEVEL READ COMMITTED",
			New:  "ISOLATION LEVEL REPEATABLE READ",
			Test: "TestDatabase/BundleOverlooksAReader",
		},
		{
			Name: "mysql: names are compared as people do", File: rowsOfLocks + "/schema.go", Pkg: lockMySQL,
			Old: `name: "VARBINARY(512)"`, New: `name: "VARCHAR(128)"`, Test: "TestDatabase/SettingMatters0",
		},
	}
}
