package main

import "github.com/bedrock-go/bedrock/internal/mutants"

const (
	shedTable    = "lock/sqllock/internal/shedtable"
	sessionLocks = "lock/sqllock/internal/session"
)

// shedLockMutants are faults in keeping locks in ShedLock's table.
func shedLockMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "shedlock: a lock that is held is had, PostgreSQL", File: shedTable + "/statements.go",
			Pkg:  lockPostgres,
			Old:  "WHERE l.lock_until <= EXCLUDED.locked_at AND l.locked_at",
			New:  "WHERE l.locked_at",
			Test: "TestShedLock/TwoHoldersAtOnce",
		},
		{
			Name: "shedlock: a lock that is held is had, MySQL", File: shedTable + "/statements.go", Pkg: lockMySQL,
			Old:  "WHERE name = $1 AND lock_until <= {now} AND locked_at",
			New:  "WHERE name = $1 AND locked_at",
			Test: "TestShedLock/TwoHoldersAtOnce",
		},
		{
			Name: "shedlock: tokens are alike within a millisecond", File: shedTable + "/statements.go",
			Pkg:  lockPostgres,
			Old:  "<= EXCLUDED.locked_at AND l.locked_at < EXCLUDED.locked_at",
			New:  "<= EXCLUDED.locked_at",
			Test: "TestShedLocksTable/ClockWasSetBack",
		},
		{
			Name: "shedlock: anybody frees a lock", File: shedTable + "/statements.go", Pkg: lockPostgres,
			Old:  "`UPDATE {t} SET lock_until = locked_at\nWHERE name = $1::text AND locked_by = $2::text AND",
			New:  "`UPDATE {t} SET lock_until = locked_at\nWHERE name = $1::text AND locked_by <> $2::text || ' ' AND",
			Test: "TestShedLock/StrangerReleases",
		},
		{
			Name: "shedlock: a release is not remembered", File: shedTable + "/backend.go", Pkg: lockPostgres,
			Old: "return r.freed", New: "return r.freed && r.left > 0", Test: "TestShedLock/RetriedReleaseFails",
		},
		{
			Name: "shedlock: another time zone is no matter", File: shedTable + "/zone.go", Pkg: lockMySQL,
			Old: "err != nil || hereUTC && usualUTC", New: "err != nil || hereUTC || usualUTC",
			Test: "TestShedLocksTable/SessionOfAnotherZoneSteals",
		},
		{
			Name: "shedlock: a lock of the future is believed", File: shedTable + "/backend.go", Pkg: lockPostgres,
			Old: "ahead > farAhead", New: "ahead > 1000*farAhead", Test: "TestShedLocksTable/LockOfTheFutureIsBelieved",
		},
		{
			Name: "shedlock: a renewal revives", File: shedTable + "/statements.go", Pkg: lockPostgres,
			Old:  "WHERE name = $1::text AND locked_by = $2::text AND lock_until > {now}`,\n\n		release",
			New:  "WHERE name = $1::text AND locked_by = $2::text`,\n\n		release",
			Test: "TestShedLocksTable/ReleaseIsForgotten",
		},
	}
}

// sessionMutants are faults in keeping locks in the session of a connection.
func sessionMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "session: another of the same client has the lock, too", File: sessionLocks + "/backend.go",
			Pkg: lockPostgres,
			Old: "	case h.owner != req.Owner:\n", New: "	case h.owner == \"\":\n",
			Test: "TestSession/OwnersOfAClientMeet",
		},
		{
			Name: "session: a lock that is held is had", File: sessionLocks + "/backend.go", Pkg: lockMySQL,
			Old: "	case !got:\n", New: "	case !got && h.key == nil:\n", Test: "TestNamedLocks/TwoHoldersAtOnce",
		},
		{
			Name: "session: a lease never ends", File: sessionLocks + "/backend.go", Pkg: lockPostgres,
			Old: "	b.book.Put(h.owner, h, h.until)\n", New: "	b.book.Put(h.owner, h, h.until*2+1<<50)\n",
			Test: "TestAdvisory/ExpiredLeaseBlocksOthers",
		},
		{
			Name: "session: nobody is told of its end", File: sessionLocks + "/session.go", Pkg: lockPostgres,
			Old: "	l.lost(s, why)\n", New: "", Test: "TestSession/LossIsToldLate",
		},
		{
			Name: "session: its end is one by force", File: sessionLocks + "/session.go", Pkg: lockMySQL,
			Old: "	l.lost(s, why)\n", New: "	l.lost(s, nil)\n", Test: "TestSession/LossIsToldLate",
		},
		{
			Name: "session: nobody asks whether it is there", File: sessionLocks + "/session.go", Pkg: lockMySQL,
			Old: "	l.work.Go(func() { l.watchSession(s) })\n", New: "", Test: "TestSession/LossIsToldLate",
		},
		{
			Name: "session: a closed client keeps its locks", File: remoteLocks + "/transaction.go", Pkg: lockMySQL,
			Old:  "		return driver.ErrBadConn // which",
			New:  "		return errors.Unwrap(driver.ErrBadConn) // which",
			Test: "TestSession/ClosedClientKeepsItsLocks",
		},
		{
			Name: "session: a pool beneath gets it back", File: remoteLocks + "/transaction.go", Pkg: lockPostgres,
			Old: "			cut(c)\n", New: "", Test: "TestPoolOfPgx/SessionGoesOn",
		},
		{
			Name: "session: a pooler is no matter", File: lockPostgres + "/session.go", Pkg: lockPostgres,
			Old: "PgConn().PID() != pid", New: "PgConn().PID() == 0", Test: "TestPoolerLendsTheSession",
		},
		{
			Name: "session: tokens begin anew", File: sessionLocks + "/backend.go", Pkg: lockPostgres,
			Old: "	h.token = newest - int64(h.tokens) + 1\n", New: "	h.token = 1\n",
			Test: "TestAdvisory/TokenGoesBack",
		},
		{
			Name: "session: a pool of one is used up", File: sessionLocks + "/session.go", Pkg: lockPostgres,
			Old: "MaxOpenConnections == 1", New: "MaxOpenConnections == -1", Test: "TestSession/PoolOfOneIsUsedUp",
		},
	}
}
