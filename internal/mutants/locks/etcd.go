package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

const etcd = "lock/etcdlock"

// etcdMutants are faults in the locks that are kept in etcd.
func etcdMutants() []mutants.Mutant {
	return slices.Concat(
		etcdLineMutants(), etcdLeaseMutants(), etcdCrowdMutants(), etcdGuardMutants(), etcdEdgeMutants(),
		etcdStoreMutants(),
	)
}

// etcdLineMutants are faults in who has a lock, and who comes next.
func etcdLineMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "etcd: keys of others in the range are overlooked", File: etcd + "/ask.go", Pkg: etcd,
			Old:  `clientv3.Compare(clientv3.CreateRevision(a.folder), "=", 0).WithRange(endOf(a.folder))`,
			New:  `clientv3.Compare(clientv3.CreateRevision(a.entry.key), "=", 0)`,
			Test: "TestOfficialMutexMeetsUs",
		},
		{
			Name: "etcd: the token of who has waited is that of its key", File: etcd + "/ledger.go", Pkg: etcd,
			Old: "	e.token = since\n", New: "	e.token = e.created\n", Test: "TestTokenOfAQueuedKeyGoesBack",
		},
		{
			Name: "etcd: the token of a turn is that of its key", File: etcd + "/acquire.go", Pkg: etcd,
			Old: "		since = at\n", New: "		since = min(at, first.created)\n",
			Test: "TestTokenOfAQueuedKeyGoesBack",
		},
		{
			Name: "etcd: the last token of an odd revision is of the one before", File: etcd + "/tokens.go", Pkg: etcd,
			Old: "return firstToken(revision+1) - 1", New: "return firstToken(revision) | 1<<tokenBits - 1",
			Test: "TestTokensOfARevisionEndBeforeThoseOfTheNext",
		},
		{
			Name: "etcd: slashes in names stay", File: etcd + "/layout.go", Pkg: etcd,
			Old: `"/", "%2F"`, New: `"/", "/"`, Test: "TestRecordIsReadable",
		},
		{
			Name: "etcd: who has a name with a slash has what is before it", File: etcd + "/record.go", Pkg: etcd,
			Old:  `if !below || strings.Contains(child, "/") {`,
			New:  `if !below {`,
			Test: "TestNamesThatArePathsMeet",
		},
		{
			Name: "etcd: an owner has a new token each time it asks", File: etcd + "/ledger.go", Pkg: etcd,
			Old: "if e.token == 0 || e.created != created {", New: "if e.token <= since {",
			Test: "TestOwnerIsGrantedAnotherTokenAfterATurn",
		},
		{
			Name: "etcd: a repeated release fails", File: etcd + "/ledger.go", Pkg: etcd,
			Old: "return done || l.released.contains(key)", New: "return done",
			Test: "TestConformance/RetriedReleaseFails",
		},
		{
			Name: "etcd: a compaction ends the line", File: etcd + "/line.go", Pkg: etcd,
			Old: "				return l.breakOff()\n", New: "				return true\n",
			Test: "TestCompactionHidesARelease",
		},
		{
			Name: "etcd: who waits by another library goes behind us", File: etcd + "/acquire.go", Pkg: etcd,
			Old: "		return b.acquire(ctx, &req, stands)\n", New: "		return b.acquire(ctx, &req, \"\")\n",
			Test: "TestWeStarveBehindOfficialWaiters",
		},
		{
			Name: "etcd: a candidate that looks on is told its own turn alone", File: etcd + "/line.go", Pkg: etcd,
			Old:  "len(listening) <= l.b.grants.countListening(l.name)",
			New:  "l.b.grants.countListening(l.name) > 0",
			Test: "TestCandidateMissesTheNextHolder",
		},
		{
			Name: "etcd: who is the first is not told", File: etcd + "/line.go", Pkg: etcd,
			Old: "ok && l.b.tell != nil {", New: "ok && l.b.tell == nil {",
			Test: "TestConformance/HeirIsPassedOver",
		},
	}
}

// etcdLeaseMutants are faults in how long a lock lasts, and in what is said when nobody knows.
func etcdLeaseMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "etcd: a grant lasts as long as its lease", File: etcd + "/ledger.go", Pkg: etcd,
			Old: "		l.book.Put(key, e, at)\n", New: "		l.book.Put(key, e, at+time.Hour)\n",
			Test: "TestConformance/ExpiredLeaseBlocksOthers",
		},
		{
			Name: "etcd: a lease that the store does not know is kept", File: etcd + "/acquire.go", Pkg: etcd,
			Old: "		l.markGone()\n", New: "", Test: "TestLeaseIsLostOnTheWay",
		},
		{
			Name: "etcd: a renewal counts without its lease", File: etcd + "/renew.go", Pkg: etcd,
			Old: "		setAll(batch, err)\n	}\n	for part", New: "	}\n	for part",
			Test: "TestRenewalCountsWithoutItsLease",
		},
		{
			Name: "etcd: a renewal by a leader that was is believed", File: etcd + "/renew.go", Pkg: etcd,
			Old:  "err == nil && !by.isOfTerm(resp.Header.RaftTerm)",
			New:  "err == nil && resp.Header.RaftTerm == 0",
			Test: "TestRenewalByAFormerLeader",
		},
		{
			Name: "etcd: a leader that was is believed", File: etcd + "/confirm.go", Pkg: etcd,
			Old: "!by.isOfTerm(term)", New: "false && !by.isOfTerm(term)", Test: "TestLeaseOfAFormerLeader",
		},
		{
			Name: "etcd: a broken connection is taken for a refused one", File: etcd + "/errors.go", Pkg: etcd,
			Old:  `	return codeOf(err) == codes.Unavailable && isUnconnected(err.Error())`,
			New:  `	return codeOf(err) == codes.Unavailable`,
			Test: "TestBrokenConnectionIsNoRefusal",
		},
	}
}
