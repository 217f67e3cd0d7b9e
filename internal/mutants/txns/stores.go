package main

import "github.com/bedrock-go/bedrock/internal/mutants"

const (
	memory = "txn/memstore"
	sqlite = "txn/sqlstore/sqlite"
	sql    = "txn/sqlstore"
)

// conformance names a behaviour of the suite for stores.
func conformance(behaviour string) string { return "TestConformance/" + behaviour }

// memoryMutants are faults in the reference store.
func memoryMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "memory: anybody's epoch writes", File: "txn/memstore/memstore.go", Pkg: memory,
			Old:  "e.rec.Version() != was {",
			New:  "e.rec.Revision != was.Revision {",
			Test: conformance("StaleEpochWrites"),
		},
		{
			Name: "memory: clean-up ignores the version", File: "txn/memstore/memstore.go", Pkg: memory,
			Old:  " && e.rec.Version() == ref.Version {",
			New:  " {",
			Test: conformance("ChangedRecordIsDeleted"),
		},
		{
			Name: "memory: a claim leaves the epoch", File: "txn/memstore/claim.go", Pkg: memory,
			Old:  "	rec.Epoch++\n",
			New:  "",
			Test: conformance("OvertakenOwnerWrites"),
		},
		{
			Name: "memory: a claim takes what is not due", File: "txn/memstore/claim.go", Pkg: memory,
			Old:  "e.rec.Due.After(now)",
			New:  "e.rec.Due.IsZero()",
			Test: conformance("UndueRecordIsClaimed"),
		},
		{
			Name: "memory: a claim takes what is parked", File: "txn/memstore/queue.go", Pkg: memory,
			Old:  "if rec.Parked != \"\" || rec.Status.Final() {",
			New:  "if rec.Status.Final() {",
			Test: conformance("ParkedRecordIsClaimed"),
		},
		{
			Name: "memory: what is no transaction is counted", File: "txn/memstore/list.go", Pkg: memory,
			Old:  "if e.rec.Status == driver.Kept {",
			New:  "if false {",
			Test: conformance("KeptRecordIsCounted"),
		},
	}
}

// sqliteMutants are faults in the SQL stores, shown on the one that is embedded.
func sqliteMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "sqlite: what is no transaction is counted", File: "txn/sqlstore/record.go", Pkg: sqlite,
			Old:  "'committing', 'rolling-back')\"",
			New:  "'committing', 'rolling-back', 'kept')\"",
			Test: conformance("KeptRecordIsCounted"),
		},
		{
			Name: "sqlite: anybody's epoch writes", File: "txn/sqlstore/sqlite/write.go", Pkg: sqlite,
			Old:  "WHERE id = ? AND revision = ? AND epoch = ?",
			New:  "WHERE id = ? AND revision = ? AND ? > 0",
			Test: conformance("StaleEpochWrites"),
		},
		{
			Name: "sqlite: any revision writes", File: "txn/sqlstore/sqlite/write.go", Pkg: sqlite,
			Old:  "WHERE id = ? AND revision = ? AND epoch = ?",
			New:  "WHERE id = ? AND ? > 0 AND epoch = ?",
			Test: conformance("StaleRevisionWrites"),
		},
		{
			Name: "sqlite: clean-up ignores the version", File: "txn/sqlstore/record.go", Pkg: sqlite,
			Old:  "id = ? AND revision = ? AND epoch = ? AND created = ? OR ",
			New:  "id = ? AND ? > 0 AND ? > 0 AND ? <> 0 OR ",
			Test: conformance("ChangedRecordIsDeleted"),
		},
		{
			Name: "sqlite: clean-up takes what is not final", File: "txn/sqlstore/delete.go", Pkg: sqlite,
			Old:  "\"DELETE FROM {tx} WHERE \" + isFinal + \" AND id",
			New:  "\"DELETE FROM {tx} WHERE id",
			Test: conformance("UnfinishedRecordIsDeleted"),
		},
		{
			Name: "sqlite: a claim leaves the epoch", File: "txn/sqlstore/claim.go", Pkg: sqlite,
			Old:  "epoch = epoch + 1",
			New:  "epoch = epoch + 0",
			Test: conformance("OvertakenOwnerWrites"),
		},
		{
			Name: "sqlite: a claim takes what is not due", File: "txn/sqlstore/claim.go", Pkg: sqlite,
			Old:  "AND due > 0 AND due <= ?",
			New:  "AND due > 0 AND 0 <= ?",
			Test: conformance("UndueRecordIsClaimed"),
		},
		{
			Name: "sqlite: a claim takes what is parked", File: "txn/sqlstore/claim.go", Pkg: sqlite,
			Old:  "WHERE parked = '' AND ",
			New:  "WHERE ",
			Test: conformance("ParkedRecordIsClaimed"),
		},
		{
			Name: "sqlite: a claim takes what is final", File: "txn/sqlstore/claim.go", Pkg: sqlite,
			Old:  "WHERE parked = '' AND \" + isUnderWay}",
			New:  "WHERE parked = ''\"}",
			Test: conformance("FinalRecordIsClaimed"),
		},
	}
}

// diskMutants are faults in what SQLite has on the disk, and when.
func diskMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "sqlite: the log and the file may get out of order", File: "txn/sqlstore/sqlite/sqlite.go",
			Pkg:  sqlite,
			Old:  "synchronous(NORMAL)",
			New:  "synchronous(OFF)",
			Test: "TestConnections",
		},
		{
			Name: "sqlite: the log is copied before it is on the disk", File: "txn/sqlstore/sqlite/log.go", Pkg: sqlite,
			Old:  "	err := k.flush()\n	switch {",
			New:  "	var err error\n	switch {",
			Test: "TestLogIsCopiedBeforeItIsOnTheDisk",
		},
		{
			Name: "sqlite: a lost log is copied at the end", File: "txn/sqlstore/sqlite/sqlite.go", Pkg: sqlite,
			Old:  "unless{log.isLost, keep}",
			New:  "keep",
			Test: "TestLostLogIsCopiedAtClose",
		},
		{
			Name: "sqlite: another file is flushed than the log", File: "txn/sqlstore/sqlite/log.go", Pkg: sqlite,
			Old:  `path+"-wal"`,
			New:  "path",
			Test: "TestSyncFlushesTheLog",
		},
		{
			Name: "sqlite: what is read may not be on the disk", File: "txn/sqlstore/sync.go", Pkg: sqlite,
			Old:  "if s.loose.Load() == 0 {",
			New:  "if s.loose.Load() >= 0 {",
			Test: "TestReadsWaitForTheDisk",
		},
	}
}

// batchMutants are faults in writing several records with one commit.
func batchMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a batch is acknowledged before its commit", File: "txn/sqlstore/writer.go", Pkg: sql,
			Old: "	w.writeOrHalve(ops)\n}\n\n// writeOrHalve",
			New: "	for _, o := range ops {\n		o.tellOutcome(nil)\n	}\n	_, _ = w.apply(ops)\n}\n\n" +
				"// writeOrHalve",
			Test: "TestAcknowledgedAfterTheCommit",
		},
		{
			Name: "a batch is acknowledged before it is on the disk", File: "txn/sqlstore/sync.go", Pkg: sql,
			Old:  "	s.whenSynced(func(err error) {\n		s.loose.Add(-1)\n		tell(err)\n	})",
			New:  "	tell(nil)\n	s.whenSynced(func(error) { s.loose.Add(-1) })",
			Test: "TestAcknowledgedAfterItSynced",
		},
		{
			Name: "a flush counts for what was committed while it ran", File: "txn/sqlstore/sync.go", Pkg: sql,
			Old: "	waiting := s.waiting\n	s.waiting, s.over = nil, last\n	s.mu.Unlock()\n" +
				"	if len(waiting) == 0 {\n		return\n	}\n	err := s.sync()\n",
			New: "	s.mu.Unlock()\n	err := s.sync()\n	s.mu.Lock()\n	waiting := s.waiting\n" +
				"	s.waiting, s.over = nil, last\n	s.mu.Unlock()\n",
			Test: "TestBatchesAreWrittenMeanwhile",
		},
		{
			Name: "a disk that failed is trusted again", File: "txn/sqlstore/sync.go", Pkg: sql,
			Old:  "	s.failed.CompareAndSwap(nil, &unsynced{err})\n",
			New:  "",
			Test: "TestUnsyncedStoreWritesNoMore",
		},
		{
			Name: "who was refused in a batch is told otherwise", File: "txn/sqlstore/writer.go", Pkg: sql,
			Old:  "case !slices.Contains(refused, o.rec.ID):",
			New:  "case !slices.Contains(refused, \"\"):",
			Test: "TestRefusalIsToldToTheRightWriter",
		},
		{
			Name: "a batch of unknown outcome is written again", File: "txn/sqlstore/writer.go", Pkg: sql,
			Old:  "	if !isUnwritten(err) {\n		w.loose",
			New:  "	if !isUnwritten(err) && err == nil {\n		w.loose",
			Test: "TestUnknownOutcomeIsNotHalved",
		},
		{
			Name: "who has left is written all the same", File: "txn/sqlstore/write.go", Pkg: sql,
			Old:  "return !o.left.Load()",
			New:  "return true",
			Test: "TestWhoLeavesBeforeItsBatchIsNotWritten",
		},
		{
			Name: "one record is twice in a batch", File: "txn/sqlstore/writer.go", Pkg: sql,
			Old:  "			ids[o.rec.ID] = struct{}{}\n",
			New:  "",
			Test: "TestOneIDTwiceInABatch",
		},
	}
}
