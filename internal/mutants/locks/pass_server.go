package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// passingServerMutants are faults in passing locks on through a server.
func passingServerMutants() []mutants.Mutant {
	return append(passingAtServerMutants(), passingByOneBackendMutants()...)
}

func passingAtServerMutants() []mutants.Mutant {
	const (
		stand, attend = "server/lock_stand.go", "server/lock_attend.go"
		client        = "client/attend.go"
	)
	return []mutants.Mutant{
		{
			Name: "server: who hears nothing stands in line", File: stand, Pkg: "server",
			Old:  "	return l.attendants.listenerOf(req.Owner)\n",
			New:  "	listener, _ = l.attendants.listenerOf(req.Owner)\n	return listener, true\n",
			Test: "TestTheStoreIsAskedToLetOneStandWhoIsDeaf",
		},
		{
			Name: "server: who has hung up stands in line", File: stand, Pkg: "server",
			Old: "&& ctx.Err() != nil:", New: "&& ctx == nil:", Test: "TestWhoHasHungUpStands",
		},
		{
			Name: "server: a client is told what others are granted", File: attend, Pkg: "server",
			Old: "	if g.Owner != \"\" {\n",
			New: "	if g.Owner == \"nobody\" {\n", Test: "TestWhoStandsIsToldOfNothing",
		},
		{
			Name: "server: what one of many was granted is told to nobody", File: attend, Pkg: "server",
			Old:  "	for _, boxes := range a.byClient {\n",
			New:  "	for _, boxes := range map[string][]*mailbox{} {\n",
			Test: "TestAGrantOfNobodyIsForNobody",
		},
		{
			Name: "server: a grant takes the place of one that says more",
			File: "server/lock_mailbox.go", Pkg: "server",
			Old: "	if g.Tokens > 0 || b.waiting[at].grant.Tokens == 0 {\n", New: "	if at.granted {\n",
			Test: "TestAMailboxLosesAGrant",
		},
		{
			Name: "server: holders hold back for who stands in line", File: "server/lock_listen.go", Pkg: "server",
			Old: " && !standing.stands(name, listener)", New: "", Test: "TestHoldersHoldBackForThoseInLine",
		},
		{
			Name: "client: a stream that breaks has told everything", File: client, Pkg: "client",
			Old: "	defer b.askForMissed() // also by who is about to: the stream is over by then\n", New: "",
			Test: "TestAStreamThatBreaksLosesAGrant",
		},
		{
			Name: "client: a stream that brings nothing is believed", File: "client/stand.go", Pkg: "client",
			Old: "			time.AfterFunc(deafAfter, s.endIfSilent)\n", New: "			_ = deafAfter\n",
			Test: "TestASilentStreamIsBelieved",
		},
		{
			Name: "client: two watches have one stream", File: "client/linger.go", Pkg: "client",
			Old: "h == nil || !h.left || !h.up.Load()", New: "h == nil || !h.up.Load()",
			Test: "TestAStreamThatWasOfUseIsMadeAnew",
		},
		{
			Name: "the API: why a grant is gone is forgotten", File: "internal/apiwire/message.go",
			Pkg: "internal/apiwire", Old: "messageTaken, reason(m.Why)", New: "messageTaken, \"\"",
			Test: "TestReasonsAreLostOnTheWay",
		},
		{
			Name: "the API: a refusal does not say that one stands", File: "internal/apiwire/errors_lock.go",
			Pkg: "internal/apiwire", Old: "Claim: duration(e.Claim), ", New: "",
			Test: "TestRefusalsTellThePlaceInLine",
		},
	}
}

// passingByOneBackendMutants are faults of stores in passing locks on to clients that have one backend.
func passingByOneBackendMutants() []mutants.Mutant {
	const stand, attend = "lock/memlock/stand.go", "lock/redislock/attend.go"
	return []mutants.Mutant{
		{
			Name: "clients of one backend push each other out of line", File: stand, Pkg: "server",
			Old:  "o.backend == by && o.client == client",
			New:  "o.backend == by && (o.client == client || client != \"\")",
			Test: "TestWhoStandsIsToldOfNothing",
		},
		{
			Name: "a lock is passed on to a client of many that has gone", File: stand, Pkg: "server",
			Old: " || s.hasGone(h)", New: "", Test: "TestWhoHasGoneIsPassedTheLock",
		},
		{
			Name: "redis: the first client of many is there for ever", File: attend, Pkg: redis,
			Old: "	b.inbox.retire()\n", New: "", Test: "TestWhoAttendsNoMoreIsGrantedTheLock",
		},
		{
			Name: "redis: one who attends twice is told twice", File: attend, Pkg: redis,
			Old:  "	return len(all) == 0 && !i.shared || len(all) > 0 && all[0] == i\n",
			New:  "	return len(all) >= 0\n",
			Test: "TestAClientThatAttendsTwiceIsToldNothing",
		},
		{
			Name: "redis: a grant without its handle is passed on for ever",
			File: "lock/redislock/release.go", Pkg: redis,
			Old: "		h.passed = b.heirs.passedTo(g.Owner)\n", New: "", Test: "TestStrangersToAServerAreKeptOut",
		},
		{
			Name: "redis: what one of many may have missed is told to all", File: "lock/redislock/heirs.go", Pkg: redis,
			Old: "		if !to.shared {\n",
			New: "		if to.client != \"\" {\n", Test: "TestAGrantThatIsMissedIsForNobody",
		},
	}
}
