package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// zookeeperOpeningMutants are faults in the time before there is a session.
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
	}
}
