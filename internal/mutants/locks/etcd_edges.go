package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// etcdEdgeMutants are faults that need a loss, or a compaction, at the wrong moment.
func etcdEdgeMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "etcd: an error of the second request says that nothing happened", File: etcd + "/ask.go", Pkg: etcd,
			Old: "			return &afterwardsError{err} //", New: "			return err //",
			Test: "TestErrorOfTheSecondRequestLeavesAPlace",
		},
		{
			Name: "etcd: a compaction ends a list", File: etcd + "/list.go", Pkg: etcd,
			Old:  "		if !errors.Is(err, rpctypes.ErrCompacted) { //",
			New:  "		if err == nil || errors.Is(err, rpctypes.ErrCompacted) { //",
			Test: "TestCompactionCutsAListOff",
		},
		{
			Name: "etcd: a late copy makes a key that is kept", File: etcd + "/acquire.go", Pkg: etcd,
			Old: "		l.letRunOut()\n", New: "		_ = l.letRunOut\n",
			Test: "TestLateCopyOfARequestKeepsALock",
		},
		{
			Name: "etcd: the key of who has waited does not tell its token",
			File: etcd + "/acquire.go", Pkg: "lock/election",
			Old: "taken, time.Now(), since\n", New: "taken, time.Now(), 0\n",
			Test: "TestTermIsToldWithAnotherToken/etcd",
		},
		{
			Name: "etcd: who is outrun gives up", File: etcd + "/crowd_ask.go", Pkg: etcd,
			Old:  "	if try <= fewTries {\n",
			New:  "	if try > mostTries {\n		return false\n	}\n	if try <= fewTries {\n",
			Test: "TestOthersAreQuickerAtASemaphore",
		},
		{
			Name: "etcd: servers allow 128 operations", File: etcd + "/renew.go", Pkg: etcd,
			Old: "half > 0 && errors.Is(", New: "half > mostRead && errors.Is(",
			Test: "TestServerAllowsFewOperations",
		},
		{
			Name: "etcd: who only waits has a grant", File: etcd + "/annotate.go", Pkg: etcd,
			Old: "		if v.own == nil || v.own.state == waits { //", New: "		if v.own == nil { //",
			Test: "TestNoteBesideWhoWaits",
		},
		{
			Name: "etcd guard: a long transaction has no room for its token",
			File: "lock/guard/etcdguard/guard.go", Pkg: "lock/guard/etcdguard",
			Old: "ErrTooManyOps) && remember != nil { //", New: "ErrTooManyOps) && remember == nil { //",
			Test: "TestLongTransactionIsRefusedAtFirst",
		},
		{
			Name: "etcd: who looks on is not told of the next holder", File: etcd + "/line.go", Pkg: etcd,
			Old: "		l.signalObservers()\n", New: "		_ = l.signalObservers\n",
			Test: "TestObserverMissesTheNextHolder",
		},
		{
			Name: "etcd: what may have been adopted is forgotten", File: etcd + "/renew.go", Pkg: etcd,
			Old: "	if a.isNew && !a.mayHaveMoved(v, err) {\n", New: "	if a.mayHaveMoved(v, err); a.isNew {\n",
			Test: "TestLostAnswerOfAnAdoptionLeavesALock",
		},
		{
			Name: "etcd: a client ends what another one renews", File: etcd + "/release.go", Pkg: etcd,
			Old: "now == by || !b.leases.isInUse(now)", New: "now == by",
			Test: "TestClientEndsWhatAnotherRenews",
		},
		{
			Name: "etcd: what is being adopted is lost", File: etcd + "/renew.go", Pkg: etcd,
			Old: "!ok && b.grants.isUndecided(e):", New: "ok && b.grants.isUndecided(e):",
			Test: "TestRenewalsMeetInAnAdoption",
		},
	}
}

// etcdStoreMutants are faults in what is said of the cluster, and of who asks it.
func etcdStoreMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "several: two places of a store have two votes", File: "internal/several/identity.go",
			Pkg: "lock/combination", Old: "	return driver.StoreOf(who), err //", New: "	return who, err //",
			Test: "TestTwoPlacesAreTwoStores",
		},
		{
			Name: "redis: all databases of a server are one place", File: "lock/redislock/identity.go", Pkg: redis,
			Old: `driver.IdentityIn("redis "+id, database)`, New: `driver.IdentityIn("redis "+id, database[:0])`,
			Test: "TestDatabasesAreOnePlace",
		},
		{
			Name: "etcd: who asks whether it may write has written", File: etcd + "/check.go", Pkg: etcd,
			Old:  `clientv3.Compare(clientv3.Version(all), "<", 0)`,
			New:  `clientv3.Compare(clientv3.Version(all), "=", 0)`,
			Test: "TestCheckOverlooksAMissingPermission",
		},
		{
			Name: "etcd: why no server is reached is not told", File: etcd + "/unreached.go", Pkg: etcd,
			Old:  "conn.GetState() != connectivity.TransientFailure",
			New:  "conn.GetState() == connectivity.TransientFailure",
			Test: "TestReadsTellWhyNoServerIsReached",
		},
		{
			Name: "etcd: what is no lock is forced away", File: etcd + "/force.go", Pkg: etcd,
			Old: "	if first.lease == clientv3.NoLease {\n", New: "	if first.lease < clientv3.NoLease {\n",
			Test: "TestKeyOfAStrangerIsPassedOver",
		},
		{
			Name: "etcd: what is no lock any more is forced away", File: etcd + "/force.go", Pkg: etcd,
			Old: `(first.key), "!=", clientv3.NoLease)`, New: `(first.key), ">", clientv3.NoLease-1)`,
			Test: "TestKeyLosesItsLeaseBeforeItIsForced",
		},
		{
			Name: "etcd: what has no lease reads, and is forced away", File: etcd + "/force.go", Pkg: etcd,
			Old: "		if c.lease == clientv3.NoLease {\n", New: "		if c.lease < clientv3.NoLease {\n",
			Test: "TestForceDeletesReadersWithoutALease",
		},
		{
			Name: "etcd: whatever is between readers is forced away", File: etcd + "/force.go", Pkg: etcd,
			Old:  "s := span{folder + begins, endOf(folder + begins)}",
			New:  "s := span{folder + firstHolder, folder + latchChild + begins[:0]}",
			Test: "TestForceDeletesReadersWithoutALease",
		},
		{
			Name: "etcd: nobody is told which key has a lock", File: etcd + "/record.go", Pkg: etcd,
			Old: "	meta[KeyOfHolder] = shownKey(c.key)\n", New: "",
			Test: "TestKeyOfAStrangerIsPassedOver",
		},
		{
			Name: "etcd: a list leaves out who is before those who wait", File: etcd + "/list.go", Pkg: etcd,
			Old: "	if found.stranger != nil {\n", New: "	if found.stranger != nil && name == \"\" {\n",
			Test: "TestWhoWaitsBehindAStrangerHasTheLock",
		},
	}
}
