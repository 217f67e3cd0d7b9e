package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

const (
	remoteLocks   = "lock/sqllock/internal/remote"
	keeperOfLocks = "lock/sqllock/internal/keeper"
)

// foundMutants are faults that were found by those who tried to break the locks.
func foundMutants() []mutants.Mutant {
	return slices.Concat(
		foundInFiles(), foundInTurns(), foundInRemovals(), foundInRows(), foundInTransactions(), foundInRenewals(),
		foundInConnections(), foundInProfiles(), foundInErrors(), foundInFront(),
	)
}

func foundInFiles() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "sqlite: a check overlooks that somebody keeps the file", File: lockFile + "/check.go", Pkg: lockFile,
			Old:  "	if !tries || err != nil {\n",
			New:  "	if tries || err != nil {\n",
			Test: "TestCheckOverlooksThatTheFileIsLocked",
		},
		{
			Name: "sqlite: a file that is gone is read", File: lockFile + "/reader.go", Pkg: lockFile,
			Old:  "r.s == nil || r.of != now {",
			New:  "r.s == nil {",
			Test: "TestRemovedFileIsReadOn",
		},
		{
			Name: "sqlite: a link is another file", File: lockFile + "/file.go", Pkg: lockFile,
			Old:  "	return is, refuseOtherName(is)\n",
			New:  "	return path, refuseOtherName(is)\n",
			Test: "TestLinkIsAnotherFile",
		},
		{
			Name: "sqlite: a file with two names is opened", File: lockFile + "/file.go", Pkg: lockFile,
			Old:  "	if why := otherName(path); why != \"\" {\n",
			New:  "	if why := otherName(path); len(why) > 80 {\n",
			Test: "TestFileHasTwoNames",
		},
		{
			Name: "sqlite: the group of a file is shut out", File: lockFile + "/companion.go", Pkg: lockFile,
			Old:  "mode != made.Mode().Perm() {\n",
			New:  "mode < 0o600 {\n",
			Test: "TestGroupIsShutOut",
		},
		{
			Name: "sqlite: a link beside the file is followed", File: lockFile + "/companion.go", Pkg: lockFile,
			Old:  "os.OpenFile(path, flags|noFollow|noWait, 0)\n",
			New:  "os.OpenFile(path, flags, 0)\n",
			Test: "TestLinkLeadsRootAway",
		},
		{
			Name: "sqlite: emptied tables stay empty", File: lockFile + "/writer.go", Pkg: lockFile,
			Old:  "	if isEmptied(err) {\n",
			New:  "	if isEmptied(err) && w.s != nil {\n",
			Test: "TestEmptiedTablesStayEmpty",
		},
		{
			Name: "sqlite: leases of the living end with another boot", File: lockFile + "/sqlite.go", Pkg: lockFile,
			Old:  "	if f.isOthers() {\n",
			New:  "	if f.isOthers() && f.path == \"\" {\n",
			Test: "TestFileOfAnotherBootIsBelieved",
		},
	}
}

func foundInTurns() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "sqlite: who has written comes in again", File: lockFile + "/turnstile.go", Pkg: lockFile,
			Old:  "	defer t.next.vacate()\n",
			New:  "	t.next.vacate()\n",
			Test: "TestWriterComesInAgain",
		},
		{
			Name: "sqlite: who has gone keeps others off", File: lockFile + "/turnstile.go", Pkg: lockFile,
			Old:  "		close(gone)\n",
			New:  "",
			Test: "TestWriterStopsInFront",
		},
		{
			Name: "sqlite: who was stopped is waited for each time", File: lockFile + "/turnstile.go", Pkg: lockFile,
			Old:  "	return g.late != nil\n",
			New:  "	return false\n",
			Test: "TestWriterStopsInFront",
		},
		{
			Name: "sqlite: a turn does not end", File: lockFile + "/turnstile.go", Pkg: lockFile,
			Old:  "	return t.now.vacate\n",
			New:  "	return func() {}\n",
			Test: "TestWriterStopsInFront",
		},
		{
			Name: "sqlite: a thread is left behind who was stopped", File: lockFile + "/turnstile.go", Pkg: lockFile,
			Old:  "	return !isMarked(g.file) && g.waitInLine(ctx)\n",
			New:  "	return g.waitInLine(ctx)\n",
			Test: "TestWriterLeavesThreads",
		},
	}
}

func foundInRemovals() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "sqlite: dropped tables stay away", File: lockFile + "/errors.go", Pkg: lockFile,
			Old:  "codeOf(err) == lib.SQLITE_ERROR &&",
			New:  "codeOf(err) == lib.SQLITE_BUSY &&",
			Test: "TestDroppedTablesStayAway",
		},
		{
			Name: "sqlite: one dropped table stays away", File: lockFile + "/writer.go", Pkg: lockFile,
			Old:  "w.file.setUp(w.file.tryMakeTables)",
			New:  "w.file.setUp(w.file.trySetUp)",
			Test: "TestDroppedTablesStayAway",
		},
		{
			Name: "sqlite: a file of releases that is gone is listened to", File: lockFile + "/bell.go", Pkg: lockFile,
			Old:  "		if !h.hearsTheFile() {\n",
			New:  "		if false {\n",
			Test: "TestRemovedBellIsListenedTo",
		},
		{
			Name: "sqlite: a sign that was removed stays down", File: lockFile + "/writer.go", Pkg: lockFile,
			Old:  ", w.file.keepUpSign())",
			New:  ")",
			Test: "TestRemovedSignStaysDown",
		},
		{
			Name: "sqlite: signs of two files meet", File: lockFile + "/alive.go", Pkg: lockFile,
			Old:  "f.path + \"-clients-\" + f.opts.Table",
			New:  "f.path + \"-\" + f.opts.Table + \"-clients\"",
			Test: "TestSignsOfTwoFilesMeet",
		},
	}
}

func foundInRows() []mutants.Mutant {
	const place = "internal/lockurl"
	return []mutants.Mutant{
		{
			Name: "sql: emptied tables stay empty", File: remoteLocks + "/store.go", Pkg: lockPostgres,
			Old:  "	if !s.Dialect.IsMissing(err) && !errors.Is(err, errNoRow) {\n",
			New:  "	if !s.Dialect.IsMissing(err) {\n",
			Test: "TestDatabase/EmptiedTablesStayEmpty",
		},
		{
			Name: "sql: one dropped table stays away", File: remoteLocks + "/setup.go", Pkg: lockPostgres,
			Old:  "err == nil && found && !s.isLacking() ||",
			New:  "err == nil && found ||",
			Test: "TestDatabase/OneDroppedTableStaysAway",
		},
		{
			Name: "sql: a wrong password is a missing table", File: remoteLocks + "/setup.go", Pkg: lockMySQL,
			Old:  "err != nil && !s.Dialect.IsMissing(err) {",
			New:  "errors.Is(err, driver.ErrUnavailable) {",
			Test: "TestDatabase/WrongPasswordIsNoMissingTable",
		},
		{
			Name: "sql: tables are made where nobody may", File: remoteLocks + "/setup.go", Pkg: place,
			Old:  "	if s.AsIs {\n",
			New:  "	if s.AsIs && schema == \"\" {\n",
			Test: "TestTablesAreLeft",
		},
		{
			Name: "sql: requests wait for who forgets names", File: remoteLocks + "/sweep.go", Pkg: lockPostgres,
			Old:  "	go func() {\n",
			New:  "	func() {\n",
			Test: "TestDatabase/SweepIsWaitedFor",
		},
		{
			Name: "sql: an owner that is cut off is another", File: rowsOfLocks + "/load.go", Pkg: lockMySQL,
			Old:  "		freed = freed[:len(freed)-1]\n",
			New:  "		freed = freed[:]\n",
			Test: "TestDatabase/OwnerIsTheBeginningOfAnother",
		},
		{
			Name: "sql: tokens fall behind the clock", File: lockPostgres + "/fast.go", Pkg: lockPostgres,
			Old:  "ELSE GREATEST(l.token + 1, EXCLUDED.since - LEAST(",
			New:  "ELSE LEAST(l.token + 1, EXCLUDED.since - LEAST(",
			Test: "TestDatabase/StandbyGivesATokenTwice",
		},
		{
			Name: "postgres: a renewal goes by the owner", File: lockPostgres + "/fast.go", Pkg: lockPostgres,
			Old:  "renewed[[2]string{grants[i].Name, grants[i].Owner}]",
			New:  "renewed[[2]string{names[len(names)-1], grants[i].Owner}]",
			Test: "TestDatabase/LossIsHiddenByAnother",
		},
		{
			Name: "postgres: a busy pool is deaf for ever", File: lockPostgres + "/hub.go", Pkg: lockPostgres,
			Old:  "			goesOn = h.awaitRoom(blind)\n",
			New:  "			_ = h.awaitRoom(blind)\n",
			Test: "TestDatabase/BusyPoolIsDeafForEver",
		},
		{
			Name: "postgres: a break in a busy pool is not told of", File: lockPostgres + "/hub.go", Pkg: lockPostgres,
			Old:  "			return true\n		}\n		h.signalAll()\n",
			New:  "			return true\n		}\n",
			Test: "TestDatabase/BreakInABusyPoolIsNotToldOf",
		},
		{
			Name: "postgres: a row that was deleted is not told of", File: lockPostgres + "/fast.go", Pkg: lockPostgres,
			Old:  "{now} + $2::bigint, true)`",
			New:  "{now} + $2::bigint, false) AND l.waited > 0`",
			Test: "TestDatabase/DeletedRowIsNotToldOf",
		},
	}
}

func foundInTransactions() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "sql: a commit never ends", File: remoteLocks + "/transaction.go", Pkg: lockMySQL,
			Old:  "t.conn.ExecContext(ctx, statement)",
			New:  "t.conn.ExecContext(context.WithoutCancel(ctx), statement)",
			Test: "TestTransaction/EndsNever",
		},
		{
			Name: "sql: a roll back never ends", File: remoteLocks + "/transaction.go", Pkg: lockMySQL,
			Old:  "context.WithTimeout(ctx, rollBackTime)",
			New:  "context.WithCancel(context.WithoutCancel(ctx))",
			Test: "TestTransaction/EndsNever/sharedInspect",
		},
		{
			Name: "sql: a transaction goes on in the pool", File: remoteLocks + "/transaction.go", Pkg: remoteLocks,
			Old:  "		return driver.ErrBadConn // which says so\n",
			New:  "		return nil\n",
			Test: "TestTransactionGoesOnInThePool",
		},
		{
			Name: "postgres: what was rolled back is committed", File: lockPostgres + "/postgres.go", Pkg: lockPostgres,
			Old:  "\"SELECT 1; COMMIT\"",
			New:  "\"COMMIT\"",
			Test: "TestRolledBackIsCommitted",
		},
	}
}

func foundInRenewals() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "postgres: one row keeps all from renewal", File: lockPostgres + "/fast.go", Pkg: lockPostgres,
			Old: " OF l SKIP LOCKED", New: " OF l", Test: "TestDatabase/LockedRowKeepsOthersFromRenewal",
		},
		{
			Name: "sql: one row keeps readers from renewal", File: remoteLocks + "/store.go", Pkg: lockPostgres,
			Old:  "step.Free && s.SkipsTaken",
			New:  "false && s.SkipsTaken",
			Test: "TestDatabase/LockedRowKeepsOthersFromRenewal",
		},
		{
			Name: "mysql: some rows keep others from renewal", File: lockMySQL + "/renew.go", Pkg: lockMySQL,
			Old:  "return !free[grants[i].Name]",
			New:  "return !free[grants[i].Name] && false",
			Test: "TestDatabase/LockedRowKeepsOthersFromRenewal",
		},
		{
			Name: "sql: steps take each other's rows", File: keeperOfLocks + "/renew.go", Pkg: keeperOfLocks,
			Old:  "case len(of) > mostRenewed:",
			New:  "case len(of) > 1000*mostRenewed:",
			Test: "TestStepsTakeEachOthersRows",
		},
		{
			Name: "postgres: a renewal needs its row to be free", File: keeperOfLocks + "/renew.go",
			Pkg:  lockPostgres,
			Old:  "if len(taken) > 0 {",
			New:  "if len(taken) > len(errs) {",
			Test: "TestDatabase/RenewalNeverFindsABusyRowFree",
		},
		{
			Name: "sql: requests leave no connection to renewals", File: remoteLocks + "/room.go", Pkg: lockPostgres,
			Old:  "size-r.kept-1)",
			New:  "size-0*r.kept)",
			Test: "TestDatabase/LockedRowsTakeASmallPool",
		},
		{
			Name: "postgres: who looks for a connection keeps its own", File: lockPostgres + "/fast.go",
			Pkg:  lockPostgres,
			Old:  "	b.hub.endSearch()\n",
			New:  "",
			Test: "TestPoolOfPgx/LookForASpareLosesALease",
		},
	}
}

func foundInConnections() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "postgres: what is prepared is kept", File: "lock/sqllock/postgres/check.go", Pkg: lockPostgres,
			Old:  "mode == pgx.QueryExecModeCacheStatement",
			New:  "mode == pgx.QueryExecModeExec",
			Test: "TestPoolerIsToldOf",
		},
		{
			Name: "postgres: any encoding will do", File: "lock/sqllock/postgres/encoding.go", Pkg: lockPostgres,
			Old:  "asSent := client == utf8 ||",
			New:  "asSent := client != \"\" ||",
			Test: "TestDatabase/NamesAreTranslated",
		},
		{
			Name: "shedlock: any connection will do", File: shedTable + "/table.go", Pkg: lockPostgres,
			Old:  "	if err := t.store.CheckConnections(ctx); err != nil {\n",
			New:  "	if err := t.store.CheckConnections(ctx); err != nil && ctx.Err() != nil {\n",
			Test: "TestDatabase/NamesAreTranslated",
		},
		{
			Name: "postgres: an account has its own encoding", File: "internal/lockurl/database.go",
			Pkg:  "internal/lockurl",
			Old:  "[\"client_encoding\"] = \"UTF8\"",
			New:  "[\"application_name\"] = \"UTF8\"",
			Test: "TestAccountOfAnotherEncodingHasOtherLocks",
		},
	}
}

func foundInProfiles() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "sql: who has no connection may have asked", File: remoteLocks + "/finish.go",
			Pkg:  "internal/lockurl",
			Old:  "	if err := s.reach(ctx); err != nil {\n",
			New:  "	if err := ctx.Err(); err != nil {\n",
			Test: "TestWhatAnswersIsNotTold",
		},
		{
			Name: "sql: a check overlooks that nobody may write", File: remoteLocks + "/check.go", Pkg: lockMySQL,
			Old:  "err := s.tryRight(ctx, &r)",
			New:  "err := ctx.Err()",
			Test: "TestDatabase/CheckOverlooksThatNobodyMayWrite",
		},
		{
			Name: "sql: who may not delete is told that nothing works", File: "lock/sqllock/internal/rows/changes.go",
			Pkg:  lockMySQL,
			Old:  "rightToDelete(entries, driver.Danger, lackCrowds)",
			New:  "rightToDelete(entries, driver.Danger, lackAll)",
			Test: "TestDatabase/CheckOverlooksThatNobodyMayWrite",
		},
		{
			Name: "postgres: a pooler's connection goes on listening", File: lockPostgres + "/hub.go",
			Pkg: lockPostgres,
			Old: "	if pid != conn.PgConn().PID() {\n",
			New: "	if _, err := conn.Exec(ctx, \"LISTEN \"+h.channel); err != nil || " +
				"pid != conn.PgConn().PID() {\n",
			Test: "TestPoolerGoesOnListening",
		},
		{
			Name: "postgres: listeners take all connections", File: lockPostgres + "/hub.go", Pkg: lockPostgres,
			Old:  "	if err := h.findSpare(ctx); err != nil {\n",
			New:  "	if err := ctx.Err(); err != nil {\n",
			Test: "TestDatabase/ListenersTakeAllConnections",
		},
		{
			Name: "postgres: a pool beneath has a connection that listens", File: lockPostgres + "/hub.go",
			Pkg: lockPostgres,
			Old: "		cutConn(c) //", New: "		//", Test: "TestPoolOfPgx/ConnectionGoesOnListening",
		},
		{
			Name: "postgres: a pool beneath has room for all", File: remoteLocks + "/spare.go", Pkg: lockPostgres,
			Old: "	conn, err := s.DB.Conn(limit)\n",
			New: "	if now.MaxOpenConnections == 0 {\n		return nil\n	}\n" +
				"	conn, err := s.DB.Conn(limit)\n",
			Test: "TestPoolOfPgx/PoolOfOneIsUsedUp",
		},
		{
			Name: "mysql: names are mangled on the way", File: lockMySQL + "/mysql.go", Pkg: lockMySQL,
			Old:  "connection == \"binary\" ||",
			New:  "connection != \"\" ||",
			Test: "TestDatabase/NamesAreMangled",
		},
		{
			Name: "shedlock: whole seconds are enough", File: shedTable + "/zone.go", Pkg: lockPostgres,
			Old:  "c.digits < milliseconds {",
			New:  "c.digits < 0*milliseconds {",
			Test: "TestShedLocksTable/TableKeepsWholeSeconds",
		},
		{
			Name: "session: a full disk ends it", File: sessionLocks + "/session.go", Pkg: lockPostgres,
			Old:  " && !l.goesOn(own, s, err) {",
			New:  " {",
			Test: "TestSession/FullDiskEndsTheSession",
		},
	}
}

func foundInErrors() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "postgres: the dead take locks", File: remoteLocks + "/prepared.go", Pkg: lockPostgres,
			Old:  "	s.leftover.waitDone()\n",
			New:  "",
			Test: "TestTheDeadTakeLocks",
		},
		{
			Name: "postgres: who only reads may have written", File: lockPostgres + "/postgres.go", Pkg: lockPostgres,
			Old:  " || sqlkind.ReadOnlyInPostgres(e.Code))",
			New:  ")",
			Test: "TestAccounts/WriteMayHaveHappened",
		},
		{
			Name: "mysql: who only reads may have written", File: lockMySQL + "/mysql.go", Pkg: lockMySQL,
			Old:  " || sqlkind.ReadOnlyInMySQL(e.Number))",
			New:  ")",
			Test: "TestDatabase/WriteMayHaveHappened",
		},
		{
			Name: "mysql: a server that only reads is a bad connection", File: remoteLocks + "/errors.go",
			Pkg:  lockMySQL,
			Old:  "	if failed != nil || why == \"\" {\n",
			New:  "	if failed != nil || why != \"\" {\n",
			Test: "TestDatabase/WriteMayHaveHappened",
		},
		{
			Name: "postgres: an error has lines", File: "lock/internal/outcome/folded.go", Pkg: lockPostgres,
			Old:  "strings.Contains(err.Error(), \"\\n\") {",
			New:  "strings.Contains(err.Error(), \"\\x00\") {",
			Test: "TestErrorHasLines",
		},
		{
			Name: "sql: who may not make a row is told that it is not there", File: remoteLocks + "/store.go",
			Pkg:  lockPostgres,
			Old:  "cmp.Or(s.ensure(ctx, missing), errNoRow)",
			New:  "cmp.Or(errNoRow, s.ensure(ctx, missing))",
			Test: "TestRightIsAskedForAgainAndAgain",
		},
		{
			Name: "sql: a session is closed before its connection", File: "lock/sqllock/internal/session/session.go",
			Pkg:  lockPostgres,
			Old:  "	l.store.NoteLeftover(s.raw)\n",
			New:  "	_ = s.raw\n",
			Test: "TestTheDeadTakeLocks",
		},
		{
			Name: "sql: closing a session loses its locks", File: "lock/sqllock/internal/session/session.go",
			Pkg:  lockPostgres,
			Old:  "	if l.life.Err() == nil { // else",
			New:  "	if l.life != nil { // else",
			Test: "TestClosingTellsOfALoss",
		},
	}
}

func foundInFront() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "server: the dead stand", File: "server/lock_stand.go", Pkg: "server",
			Old:  "	if s.count < s.full {\n",
			New:  "	if len(s.byName) < s.full {\n",
			Test: "TestTheDeadStand",
		},
		{
			Name: "fair: the turn of nobody is listened for", File: "lock/acquire_stand.go", Pkg: front,
			Old:  " || c.notified || k.q.fair {",
			New:  " || c.notified {",
			Test: "TestATurnIsHeardOfByOneWhoAlwaysAsks",
		},
		{
			Name: "fair: who is told of nothing sleeps", File: "lock/queue_fair.go", Pkg: front,
			Old:  "	if held.Claim == 0 && k.q.hearsOfNoTurn() {\n",
			New:  "	if held.Claim < 0 && k.q.hearsOfNoTurn() {\n",
			Test: "TestATurnIsHeardOfByOneWhoAlwaysAsks",
		},
	}
}
