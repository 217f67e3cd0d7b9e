package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// zookeeperKindMutants are faults in read-write locks, semaphores and elections that are nodes of a session.
func zookeeperKindMutants() []mutants.Mutant {
	const zk = "lock/zklock"
	return append(zookeeperPermitMutants(), []mutants.Mutant{
		{
			Name: "zookeeper: a reader waits for who is before it", File: zk + "/nodes.go", Pkg: zk,
			Old: "	if r != readWrites || modeWord(nodes[at]) != readWord {\n", New: "	if r >= mutexes {\n",
			Test: "TestReleaseWakesTheWholeLine",
		},
		{
			Name: "zookeeper: a reader waits for the writer over which it reads", File: zk + "/nodes.go", Pkg: zk,
			Old:  "if modeWord(nodes[before]) == writeWord && r.sortKey(nodes[before]) < r.sortKey(nodes[at]) {",
			New:  "if modeWord(nodes[before]) == writeWord {",
			Test: "TestReaderOverAWriterIsNewerThanTheLine",
		},
		{
			Name: "zookeeper: a newcomer reads before a writer who waits", File: zk + "/nodes.go", Pkg: zk,
			Old:  "		return slices.IndexFunc(nodes, func(n string) bool { return modeWord(n) == writeWord })\n",
			New:  "		return slices.Index(nodes[:min(len(nodes), 1)], writeWord)\n",
			Test: "TestConformanceStandalone/WriterMeetsAReader",
		},
		{
			Name: "zookeeper: who waits for a writer has what that makes to read", File: zk + "/stand.go", Pkg: zk,
			Old:  "before == 0 && p.recipe != readWrites, trip",
			New:  "before == 0, trip",
			Test: "TestDowngradedWriterLeavesItsPlace",
		},
		{
			Name: "zookeeper: who only waits is granted the lock unasked", File: zk + "/stand.go", Pkg: zk,
			Old:  "	p.waits = !a.stands\n",
			New:  "	p.waits = false\n",
			Test: "TestReleaseWakesTheWholeLine",
		},
		{
			Name: "zookeeper: a reader over a writer has the token of its node", File: zk + "/downgrade.go", Pkg: zk,
			Old:  "	p.grant.Token = writer.grant.Token + uint64(used)\n",
			New:  "	p.grant.Token = writer.grant.Token + uint64(used)<<localBits\n",
			Test: "TestReaderOverAWriterIsNewerThanTheLine",
		},
		{
			Name: "zookeeper: a writer who goes on to read leaves its place", File: zk + "/downgrade.go", Pkg: zk,
			Old:  "	node := p.prefix + readWord + p.recipe.sortKey(p.node)\n	_, err",
			New:  "	node := p.prefix + readWord + \"9\" + p.recipe.sortKey(p.node)\n	_, err",
			Test: "TestDowngradedWriterLeavesItsPlace",
		},
		{
			Name: "zookeeper: a writer whose answer was lost is one still", File: zk + "/downgrade.go", Pkg: zk,
			Old: "		b.move(p, \"\")\n", New: "		b.move(p, p.node)\n",
			Test: "TestLostReplyToDowngradeLosesTheLock",
		},
		{
			Name: "zookeeper: readers who may upgrade are readers", File: zk + "/kinds.go", Pkg: zk,
			Old: "	case req.Upgradeable:\n", New: "	case false:\n", Test: "TestReadersWhoUpgradeAreLetIn",
		},
		{
			Name: "zookeeper: who takes part in an election has no name", File: zk + "/acquire.go", Pkg: zk,
			Old: "		return []byte(a.req.Owner)\n", New: "		return nil\n", Test: "TestLeaderLatchIsAMutex",
		},
	}...)
}

// zookeeperPermitMutants are faults in semaphores.
func zookeeperPermitMutants() []mutants.Mutant {
	const zk = "lock/zklock"
	return []mutants.Mutant{
		{
			Name: "zookeeper: who comes at the same time counts", File: zk + "/permits.go", Pkg: zk,
			Old:  "		if p.recipe.sequenceOf(node) <= p.recipe.sequenceOf(last) {\n",
			New:  "		if last != \"\" && p.recipe.sequenceOf(node) >= 0 {\n",
			Test: "TestPermitsAreTakenByNobody",
		},
		{
			Name: "zookeeper: permits are not counted when they are made", File: zk + "/permits.go", Pkg: zk,
			Old: "p.countUpTo(nodes) > a.req.Limit", New: "p.countUpTo(nodes) > a.req.Limit+8",
			Test: "TestPermitsAreTakenByNobody",
		},
		{
			Name: "zookeeper: the rest of the permits is kept", File: zk + "/place.go", Pkg: zk,
			Old: "	if known && len(p.more) > 0 {\n", New: "	if known && len(p.more) < 0 {\n",
			Test: "TestLostPermitLeavesTheOthers",
		},
		{
			Name: "zookeeper: one node tells of all permits", File: zk + "/renew.go", Pkg: zk,
			Old:  "	if err == nil && there && len(p.more) > 0 {\n",
			New:  "	if err == nil && !there && len(p.more) > 0 {\n",
			Test: "TestLostPermitLeavesTheOthers",
		},
		{
			Name: "zookeeper: a semaphore is made beside a mutex", File: zk + "/permits.go", Pkg: zk,
			Old:  "	return nodes, folder, cmp.Or(wrong, err)\n",
			New:  "	_ = wrong\n	return nodes, folder, err\n",
			Test: "TestKindsAreTakenForEachOther",
		},
		{
			Name: "zookeeper: what a semaphore has left keeps others off", File: zk + "/kinds.go", Pkg: zk,
			Old:  "		if errors.Is(err, zk.ErrNotEmpty) {\n",
			New:  "		if err == nil || errors.Is(err, zk.ErrNotEmpty) {\n",
			Test: "TestConformanceStandalone/KindOutlivesItsHolders",
		},
		{
			Name: "zookeeper: a lone server has to catch up", File: zk + "/conn.go", Pkg: zk,
			Old: "		c.only.Store(generation)\n", New: "		c.several.Store(generation)\n",
			Test: "TestRefusalCostsMore",
		},
	}
}
