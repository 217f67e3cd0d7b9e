package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

// zookeeperMutants are faults in locks that are nodes of a session.
func zookeeperMutants() []mutants.Mutant {
	const zk = "lock/zklock"
	return slices.Concat(zookeeperFurtherMutants(), []mutants.Mutant{
		{
			Name: "zookeeper: nodes are in the order of their whole names", File: zk + "/nodes.go", Pkg: zk,
			Old: "			node = node[at+len(word):]\n", New: "			node = node[at*0:]\n",
			Test: "TestNodesAreInTheWrongOrder",
		},
		{
			Name: "zookeeper: the last number is as good as the others", File: zk + "/acquire.go", Pkg: zk,
			Old: "	if n < 0 || n >= lastSequence {\n", New: "	if n < 0 {\n", Test: "TestSequenceEndsUnseen",
		},
		{
			Name: "zookeeper: tokens of a block are those of the next transaction", File: zk + "/token.go", Pkg: zk,
			Old: "return uint64(zxid) << localBits, nil", New: "return uint64(zxid), nil", Test: "TestTokensMeet",
		},
		{
			Name: "zookeeper: an element may be a dot", File: zk + "/names.go", Pkg: zk,
			Old: "if isPlain(c) && (i > 0 || c != '.') {", New: "if isPlain(c) {", Test: "TestEscapedNamesMeet",
		},
		{
			Name: "zookeeper: what an old session has left goes on", File: zk + "/acquire.go", Pkg: zk,
			Old: "	case own != \"\" && a.ours:\n", New: "	case own != \"\":\n",
			Test: "TestNodeOfAnOldSessionIsBelievedIn",
		},
		{
			Name: "zookeeper: other recipes are not known", File: zk + "/nodes.go", Pkg: zk,
			Old: "		return readWrites, true\n", New: "		return readWrites, false\n",
			Test: "TestKindsAreTakenForEachOther",
		},
		{
			Name: "zookeeper: a folder that was removed is not made", File: zk + "/acquire.go", Pkg: zk,
			Old: "	return cmp.Or(a.b.makeFolder(a.place.folder), errMoved)\n", New: "	return err\n",
			Test: "TestRemovedFolderIsNotMadeAgain",
		},
		{
			Name: "zookeeper: who has a lock does not look at its node", File: zk + "/attend.go", Pkg: zk,
			Old: "	late := p.over || p.attended\n", New: "	late := true\n",
			Test: "TestForcedReleaseIsHeardOfLate",
		},
		{
			Name: "zookeeper: what Curator writes over stays lost", File: zk + "/attend.go", Pkg: zk,
			Old:  "	if written != nil {\n",
			New:  "	if written == nil {\n",
			Test: "TestRevocationByCuratorIsUnheard",
		},
		{
			Name: "zookeeper: holders who hear nothing count", File: zk + "/plead.go", Pkg: zk,
			Old: "	case ours || len(data) > 0 && string(data) != revoke:\n", New: "	case ours:\n",
			Test: "TestPleaToCuratorIsCounted",
		},
		{
			Name: "zookeeper: the folder of the servers is ignored", File: zk + "/backend.go", Pkg: zk,
			Old: "base: chroot + filled.Root", New: "base: chroot[:0] + filled.Root", Test: "TestFoldersMeet",
		},
	})
}

// zookeeperFurtherMutants are those that are told elsewhere.
func zookeeperFurtherMutants() []mutants.Mutant {
	return slices.Concat(
		zookeeperSessionMutants(), zookeeperKindMutants(), zookeeperEdgeMutants(), zookeeperLineMutants(),
		zookeeperLossMutants(), zookeeperOpeningMutants(),
	)
}

// zookeeperSessionMutants are faults in the session, and in what outlives a request.
func zookeeperSessionMutants() []mutants.Mutant {
	const zk = "lock/zklock"
	return []mutants.Mutant{
		{
			Name: "zookeeper: a lease fills its session", File: zk + "/options.go", Pkg: zk,
			Old: "return session / ofSession * leaseShare", New: "return session * leaseShare / leaseShare",
			Test: "TestLeaseFillsItsSession",
		},
		{
			Name: "zookeeper: a silent server is waited for", File: zk + "/link.go", Pkg: zk,
			Old: "	if begins {\n", New: "	if begins && t.IsZero() {\n", Test: "TestSilentServerCostsTheSession",
		},
		{
			Name: "zookeeper: replies overtake the watches", File: zk + "/link.go", Pkg: zk,
			Old: "	if hold == 0 {\n", New: "	if hold >= 0 {\n",
			Test: "TestRepliesOvertakeWatches",
		},
		{
			Name: "zookeeper: a server that falls silent is kept", File: zk + "/link.go", Pkg: zk,
			Old:  "			l.waits = true\n			l.timer.Reset(l.silence)\n",
			New:  "			l.waits = true\n",
			Test: "TestFrozenServerKeepsItsClients",
		},
		{
			Name: "zookeeper: the old session is asked for for ever", File: zk + "/conn.go", Pkg: zk,
			Old:  "	if since == 0 || ",
			New:  "	if since >= 0 || ",
			Test: "TestServersWithoutTheirDataAreAskedForEver",
		},
		{
			Name: "zookeeper: a node whose answer was lost is forgotten", File: zk + "/acquire.go", Pkg: zk,
			Old:  "	a.ours, a.made = true, a.b.conn.generation.Load()\n	path, err := ",
			New:  "	defer func() { a.ours = before || p.node != \"\" }()\n	path, err := ",
			Test: "TestLostReplyToCreateLeavesANode",
		},
		{
			Name: "zookeeper: a lease goes on with its session", File: zk + "/place.go", Pkg: zk,
			Old:  "func() (bool, error) { return b.endNow(p) })\n",
			New:  "func() (bool, error) { return false, nil })\n",
			Test: "TestConformanceStandalone/ExpiredLeaseBlocksOthers",
		},
		{
			Name: "zookeeper: who stands does not look at its node", File: zk + "/attend.go", Pkg: zk,
			Old: "	if own == nil {\n		b.losePlace(p)\n", New: "	if own == nil {\n",
			Test: "TestRemovedHeirIsGranted",
		},
		{
			Name: "zookeeper: who stands is told nothing", File: zk + "/attend.go", Pkg: zk,
			Old: "	b.inherit(p.grant)\n", New: "	_ = b.inherit\n",
			Test: "TestConformanceStandalone/HeirIsPassedOver",
		},
	}
}
