package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// zookeeperOpeningMutants are faults before there is a session, and in what is told of the servers.
func zookeeperOpeningMutants() []mutants.Mutant {
	const zk = "lock/zklock"
	return []mutants.Mutant{
		{
			Name: "zookeeper: requests do not wait for the first session", File: zk + "/backend.go", Pkg: zk,
			Old: "	if err := b.conn.awaitRound(ctx); err != nil {\n", New: "	if err := ctx.Err(); err != nil {\n",
			Test: "TestABackendIsOpenedBeforeItsServer",
		},
		{
			Name: "zookeeper: who is closed before the first session keeps its requests", File: zk + "/opening.go",
			Pkg: zk, Old: "	case <-c.dialing.Done(): // it was closed\n", New: "	case <-chan struct{}(nil):\n",
			Test: "TestARequestWaitsForTheFirstServer",
		},
		{
			Name: "zookeeper: a session that is too short for the leases is as good as others", File: zk + "/check.go",
			Pkg: zk, Old: "	if b.opts.Lock.TTL > longestLease(lasts) {\n", New: "	if lasts <= 0 {\n",
			Test: "TestShortSessionsStopWhoTakesNoLease",
		},
		{
			Name: "zookeeper: what a check tries stays", File: zk + "/rights.go", Pkg: zk,
			Old: "	for range 2 {\n", New: "	for range 1 {\n",
			Test: "TestACheckOverlooksMissingPermissions",
		},
		{
			Name: "zookeeper: nobody is told which permission is missing", File: zk + "/rights.go", Pkg: zk,
			Old: "	if !errors.Is(err, zk.ErrNoAuth) {\n", New: "	if err != nil {\n",
			Test: "TestACheckOverlooksMissingPermissions",
		},
		{
			Name: "zookeeper: whatever answers is a server", File: zk + "/greeting.go", Pkg: zk,
			Old:  "	return length >= handshake-lengthEnd && length <= longestAnswer\n",
			New:  "	return length > 0\n",
			Test: "TestOtherServersAreNotTold",
		},
	}
}
