package main

import "github.com/bedrock-go/bedrock/internal/mutants"

const etcdguard = "lock/guard/etcdguard"

// etcdCrowdMutants are faults in locks that several may have at once, in latches, and in elections.
func etcdCrowdMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "etcd: who writes does not see who reads", File: etcd + "/crowd.go", Pkg: etcd,
			Old:  "	default:\n		return true\n	}\n",
			New:  "	default:\n		return c.word != reads\n	}\n",
			Test: "TestConformance/WriterMeetsAReader",
		},
		{
			Name: "etcd: what has come since is overlooked", File: etcd + "/conditions.go", Pkg: etcd,
			Old: `"<", v.revision+1).WithRange(s.to))`, New: `"<", v.revision+1000).WithRange(s.to))`,
			Test: "TestConformance/PermitsAreContendedFor",
		},
		{
			Name: "etcd: who reads wakes every writer", File: etcd + "/crowd_watch.go", Pkg: etcd,
			Old: "signals[driver.ReadWrite] = l.letsOursIn()", New: "signals[driver.ReadWrite] = true",
			Test: "TestReleaseWakesWhoMustWait",
		},
		{
			Name: "etcd: who stands for a mutex has it beside readers", File: etcd + "/ask.go", Pkg: etcd,
			Old: "		may = append(may, noHolders(a.folder))\n", New: "",
			Test: "TestStanderHasALockOfAnotherKind",
		},
		{
			Name: "etcd: a writer goes before readers who wait for one", File: etcd + "/crowd.go", Pkg: etcd,
			Old: "			turn = next\n", New: "			turn = waits\n",
			Test: "TestConformance/WriterPassesReadersWhoWait",
		},
		{
			Name: "etcd: a place is kept as long as a grant", File: etcd + "/acquire.go", Pkg: etcd,
			Old: "return min(a.req.TTL, longestPlace)\n", New: "return a.req.TTL\n", Test: "TestWaiterDies",
		},
		{
			Name: "etcd: a place is kept by the lease of a grant", File: etcd + "/acquire.go", Pkg: etcd,
			Old: "leaseFor(ctx, a.claimTime())\n", New: "leaseFor(ctx, a.req.TTL)\n",
			Test: "TestPlaceIsKeptAsLongAsItsGrant/waits",
		},
		{
			Name: "etcd: a place stays when its name is of another kind", File: etcd + "/crowd_ask.go", Pkg: etcd,
			Old: "			a.endPlace()\n", New: "", Test: "TestPlaceOutlivesItsKind",
		},
		{
			Name: "etcd: an upgrade goes over who has left", File: etcd + "/crowd.go", Pkg: etcd,
			Old: "return driver.ErrBelow\n", New: "return nil\n", Test: "TestConformance/UpgradeOverNobody",
		},
		{
			Name: "etcd: a call is not remembered", File: etcd + "/latch.go", Pkg: etcd,
			Old: "v.answered, v.answer = true, told\n", New: "v.answered, v.answer = false, told\n",
			Test: "TestConformance/CountDownCountsTwice",
		},
		{
			Name: "etcd: a latch is set where somebody has a lock", File: etcd + "/latch.go", Pkg: etcd,
			Old:  "	return v, v.others.checkKind(driver.Latch)\n",
			New:  "	return v, nil\n",
			Test: "TestConformance/LatchIsALock",
		},
		{
			Name: "etcd: several locks are had though one is not free", File: etcd + "/bundle.go", Pkg: etcd,
			Old: "err := w.firstHeld(after);", New: "err := w.firstHeld(after[:1]);",
			Test: "TestConformance/SomeOfSeveralAreGranted",
		},
		{
			Name: "etcd: keys are looked at one by one", File: etcd + "/renew.go", Pkg: etcd,
			Old: "ops = append(ops, clientv3.OpGet(r.entry.grantKey))",
			New: "ops = append(ops, clientv3.OpGet(r.entry.grantKey, clientv3.WithKeysOnly()))\n" +
				"			holds = append(holds, clientv3.Compare(clientv3.Version(r.entry.grantKey), \"=\", 0))",
			Test: "TestRenewalWrites",
		},
		{
			Name: "etcd: a leader is another one whenever anything is written", File: etcd + "/record.go", Pkg: etcd,
			Old: "	case c.elects, c.own && c.state == held:\n", New: "	case c.own && c.state == held:\n",
			Test: "TestLeadersAreObserved",
		},
		{
			Name: "etcd: a candidate proposes what people need not know", File: etcd + "/proposal.go", Pkg: etcd,
			Old: "		return proposal\n", New: "		return r.meta + proposal\n", Test: "TestElectionIsShared",
		},
	}
}

// etcdGuardMutants are faults in the guard of data in etcd.
func etcdGuardMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "etcd guard: a token that is not there is none", File: etcdguard + "/guard.go", Pkg: etcdguard,
			Old: `clientv3.Compare(clientv3.ModRevision(key), "=", modified)`,
			New: `clientv3.Compare(clientv3.ModRevision(key), ">", modified-1)`, Test: "TestRace",
		},
		{
			Name: "etcd guard: a stale token is taken", File: etcdguard + "/guard.go", Pkg: etcdguard,
			Old: "			err = guard.Compare(t, newest)\n", New: "			err = guard.Compare(t, 0*newest)\n",
			Test: "TestTokensAreMixedUp",
		},
		{
			Name: "etcd guard: the clause holds for a newer one", File: etcdguard + "/guard.go", Pkg: etcdguard,
			Old:  `clientv3.Compare(clientv3.Value(g.keyOf(t.Name)), "=", encodeToken(t.Token))`,
			New:  `clientv3.Compare(clientv3.Value(g.keyOf(t.Name)), "!=", encodeToken(0))`,
			Test: "TestClauseLetsAStrangerIn",
		},
	}
}
