package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// zookeeperEdgeMutants are faults that need a rare name, or length, or a server that is behind.
func zookeeperEdgeMutants() []mutants.Mutant {
	const zk = "lock/zklock"
	return []mutants.Mutant{
		{
			Name: "zookeeper: what begins like the servers' folder is theirs", File: zk + "/names.go", Pkg: zk,
			Old: `strings.HasPrefix(path, "/zookeeper/")`, New: `strings.HasPrefix(path, "/zookeeper")`,
			Test: "TestNeighboursOfTheServersFolderAreRefused",
		},
		{
			Name: "zookeeper: a session has a part of a millisecond", File: zk + "/options.go", Pkg: zk,
			Old: "	return (d + time.Millisecond - 1).Truncate(time.Millisecond)\n", New: "	return d\n",
			Test: "TestThirdOfAMillisecondRefusesALease",
		},
		{
			Name: "zookeeper: what semaphores call their own is no name", File: zk + "/inspect.go", Pkg: zk,
			Old: "semaphore && isFolderOfSemaphore(n)", New: "isFolderOfSemaphore(n)",
			Test: "TestFolderHidesItsLocks",
		},
		{
			Name: "zookeeper: the line for a permit is a lock", File: zk + "/inspect.go", Pkg: zk,
			Old:  "isContender(n) || semaphore && isFolderOfSemaphore(n)",
			New:  "isContender(n) || semaphore && n == leasesFolder",
			Test: "TestFolderHidesItsLocks",
		},
		{
			Name: "zookeeper: what is being ended is waited for", File: zk + "/place.go", Pkg: zk,
			Old: "	_, err := inSession(ctx, b, func() (bool, error) { return b.endNow(p)",
			New: "	p.moving.RLock()\n	p.moving.RUnlock()\n" +
				"	_, err := inSession(ctx, b, func() (bool, error) { return b.endNow(p)",
			Test: "TestDowngradeUnderWayDelaysClose",
		},
		{
			Name: "zookeeper: a server that is behind knows that there is no node", File: zk + "/acquire.go", Pkg: zk,
			Old:  "	case a.mayBeBehind(): // where an answer was lost, its node may be on its way here\n",
			New:  "	case own != \"\":\n",
			Test: "TestMovedSessionOverlooksItsNode/a_mutex",
		},
		{
			Name: "zookeeper: a server that is behind knows what a node has become",
			File: zk + "/downgrade.go", Pkg: zk,
			Old:  "	if err := b.catchUp(p.folder); err != nil { //",
			New:  "	if err := error(nil); err != nil { //",
			Test: "TestMovedSessionOverlooksItsNode/a_downgrade",
		},
		{
			Name: "zookeeper: a server that is behind knows who is to lose a lock", File: zk + "/force.go", Pkg: zk,
			Old: "b.catchUp(folder); err != nil {", New: "error(nil); err != nil {",
			Test: "TestForcedReleaseOverlooksTheHolder",
		},
		{
			Name: "zookeeper: who attends to what is lost is not told", File: zk + "/place.go", Pkg: zk,
			Old: "	p.over = true\n	p.lookAgain()\n", New: "	p.over = true\n",
			Test: "TestLostGrantsAreAttended",
		},
		{
			Name: "zookeeper: any number of permits fits into a request", File: zk + "/permits.go", Pkg: zk,
			Old: "a.req.Permits > most {", New: "a.req.Permits > 2*most {",
			Test: "TestPermitsOutgrowTheirRequest",
		},
		{
			Name: "zookeeper: any number of nodes goes by one request", File: zk + "/place.go", Pkg: zk,
			Old: "size > mostBytes {", New: "size > 10*mostBytes {",
			Test: "TestForcedReleaseOutgrowsItsRequest",
		},
	}
}

// zookeeperLineMutants are faults of who waits, and of who looks on.
func zookeeperLineMutants() []mutants.Mutant {
	const zk = "lock/zklock"
	return []mutants.Mutant{
		{
			Name: "zookeeper: a server that is behind knows who has a lock", File: zk + "/inspect.go", Pkg: zk,
			Old: "	return b.catchUp(folder)\n", New: "	return nil\n",
			Test: "TestFollowerShowsAHeldLockAsFree",
		},
		{
			Name: "zookeeper: a candidate has no place", File: zk + "/acquire.go", Pkg: zk,
			Old:  "a.req.Waits && a.place.recipe != leases }",
			New:  "a.req.Waits && a.place.recipe == readWrites }",
			Test: "TestCandidateHasNoPlaceInTheLine",
		},
		{
			Name: "zookeeper: who listens hears of the first holder only", File: zk + "/inspect.go", Pkg: zk,
			Old: "if alone && (own", New: "if !alone && (own",
			Test: "TestObserverHearsOfTheFirstOnly",
		},
	}
}

// zookeeperLossMutants are faults that need an answer that is lost, or a connection.
func zookeeperLossMutants() []mutants.Mutant {
	const zk = "lock/zklock"
	return []mutants.Mutant{
		{
			Name: "zookeeper: who is being ended is granted something else", File: zk + "/place.go", Pkg: zk,
			Old:  "	if p.moved != nil || !b.beginEnding(p) { //",
			New:  "	if b.forgetPlace(p); p.moved != nil { //",
			Test: "TestEndOfAPlaceTakesTheNextGrant",
		},
		{
			Name: "zookeeper: a failure after the node was made leaves no doubt", File: zk + "/acquire.go", Pkg: zk,
			Old: "			err = &afterwardsError{err}\n", New: "			err = fmt.Errorf(\"%w\", err)\n",
			Test: "TestFailureAfterTheNodeWasMade",
		},
		{
			Name: "zookeeper: credentials go over the first connection", File: zk + "/conn.go", Pkg: zk,
			Old:  "	l.credentials = credentialsOf(c.opts)\n",
			New:  "	if c.generation.Load() == 0 {\n		l.credentials = credentialsOf(c.opts)\n	}\n",
			Test: "TestStrangersReadTheLocks",
		},
		{
			Name: "zookeeper: an owner asks twice at a time", File: zk + "/acquire.go", Pkg: zk,
			Old:  "		if other == nil {\n			return func",
			New:  "		if true {\n			return func",
			Test: "TestRequestsOfAnOwnerMeet",
		},
		{
			Name: "zookeeper: the token is that of the last change", File: zk + "/acquire.go", Pkg: zk,
			Old: "	told := alone && a.stands || a.isOnlyChange(folder)\n", New: "	told := alone\n",
			Test: "TestTokenIsNotThatOfTheNode",
		},
		{
			Name: "zookeeper: who stands has a grant", File: zk + "/annotate.go", Pkg: zk,
			Old: "	if p != nil && !p.isGranted() { //", New: "	if p != nil && p.key == \"\" { //",
			Test: "TestNoteBesideWhoStands",
		},
		{
			Name: "zookeeper: a late copy hides a grant", File: zk + "/place.go", Pkg: zk,
			Old: "		stays = inBook && p", New: "		stays = inBook && p == nil && p",
			Test: "TestLateCopyHidesAGrant",
		},
		{
			Name: "zookeeper: what is no lock is forced away", File: zk + "/force.go", Pkg: zk,
			Old: "!there || node.EphemeralOwner != 0 {", New: "!there || node.EphemeralOwner == 0 {",
			Test: "TestForceDeletesData",
		},
		{
			Name: "zookeeper: the first alone are asked whose they are", File: zk + "/force.go", Pkg: zk,
			Old:  "; i += sideBySide {",
			New:  "; i += len(nodes) {",
			Test: "TestForceOverlooksDataAmongMany",
		},
	}
}
