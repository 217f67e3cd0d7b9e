package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

// fairMutants are faults in the line of a fair lock.
func fairMutants() []mutants.Mutant {
	return slices.Concat(
		fairLineMutants(), fairServiceMutants(), fairFrontMutants(),
		fairRedisMutants(), fairRightsMutants(), fairServerMutants(),
	)
}

const fairLine = "lock/memlock/line.go"

// fairLineMutants are faults in who stands where.
func fairLineMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "who comes last is served first", File: fairLine, Pkg: memory,
			Old:  "		at = len(line)\n		line = append(line, p)\n",
			New:  "		at = 0\n		line = append([]*place{p}, line...)\n",
			Test: inMemory("WaitersAreNotServedInOrder"),
		},
		{
			Name: "the nearest are served first", File: fairLine, Pkg: memory,
			Old: "		at = len(line)\n		line = append(line, p)\n",
			New: "		at = slices.IndexFunc(line, func(o *place) bool { return o.backend != p.backend }) + 1\n" +
				"		line = slices.Insert(line, max(at-1, 0), p)\n",
			Test: inMemory("NearWaitersOvertake"),
		},
		{
			Name: "who asks again loses its place", File: fairLine, Pkg: memory,
			Old: "	at := placeOf(line, p.req.Owner)\n	if at < 0 {\n		at = len(line)\n",
			New: "	at := placeOf(line, p.req.Owner)\n	if at >= 0 {\n" +
				"		line = slices.Delete(line, at, at+1)\n	}\n	if at = -1; at < 0 {\n" +
				"		at = len(line)\n",
			Test: inMemory("LiveWaiterLosesItsPlace"),
		},
		{
			Name: "the dead stay in line", File: fairLine, Pkg: memory,
			Old:  "func(p *place) bool { return !now.Before(p.expires) }",
			New:  "func(p *place) bool { return now.Before(p.since) }",
			Test: inMemory("LongDeadWaiterHoldsUpTheLine"),
		},
		{
			Name: "a try passes who waits", File: fairLine, Pkg: memory,
			Old: "	if len(line) == 0 || line[0]", New: "	if len(line) == 0 || !req.Waits || line[0]",
			Test: inMemory("TryOvertakesTheLine"),
		},
		{
			Name: "a try stays in line", File: fairLine, Pkg: memory,
			Old: "	if req.Waits {\n", New: "	if req.Fair {\n", Test: inMemory("TryHasAPlace"),
		},
		{
			Name: "who gave up stays in line", File: "lock/memlock/store.go", Pkg: memory,
			Old: "	s.leaveLine(d.Name, d.Owner)\n", New: "",
			Test: inMemory("WaiterWhoGaveUpHoldsUpTheLine"),
		},
		{
			Name: "who has the lock stays in line", File: fairLine, Pkg: memory,
			Old: "			s.removePlace(req.Name, req.Owner)\n", New: "", Test: inMemory("PlaceIsNotTold"),
		},
		{
			Name: "who waits is not shown", File: "lock/memlock/store.go", Pkg: memory,
			Old: ", Line: s.describeLine(name)}", New: "}", Test: inMemory("LineIsNotShown"),
		},
		{
			Name: "lines that died are kept", File: "lock/memlock/store.go", Pkg: memory,
			Old: "	for name := range s.lines {\n		s.livingLine(name)\n	}\n", New: "",
			Test: "TestLinesThatDiedAreForgotten",
		},
	}
}

// fairServiceMutants are faults in how the store serves the line.
func fairServiceMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a release does not serve the line", File: "lock/memlock/store.go", Pkg: memory,
			Old:  "	first, granted := s.serveLine(name)\n	if granted {\n		s.wake",
			New:  "	var first *place\n	granted := false\n	if granted {\n		s.wake",
			Test: inMemory("TurnIsNotTold"),
		},
		{
			Name: "a forced release does not serve the line", File: "lock/memlock/store.go", Pkg: memory,
			Old:  "	if first, granted := s.serveLine(name); granted {",
			New:  "	if first, granted := (&place{}), held && crowded; granted {",
			Test: inMemory("ForcedReleaseSkipsTheLine"),
		},
		{
			Name: "the turn of who gave up is nobody's", File: fairLine, Pkg: memory,
			Old: "		s.serveLine(name)\n	}\n}", New: "	}\n}", Test: inMemory("TurnOfWhoGaveUpIsLost"),
		},
		{
			Name: "the line is granted a mutex beside readers", File: fairLine, Pkg: memory,
			Old: "!held && s.otherKind(name, driver.Mutex) == nil {", New: "!held {",
			Test: "TestTheLineWaitsForAMutex",
		},
		{
			Name: "who asks finds a free lock and does not serve the line", File: fairLine, Pkg: memory,
			Old:  "	first, granted := s.serveLine(req.Name)\n	if first",
			New:  "	first, granted := line[0], false\n	if first",
			Test: "TestTheLineIsServedWhenSomebodyAsks",
		},
		{
			Name: "what is granted unasked lives as long as a lease", File: fairLine, Pkg: memory,
			Old: "	g.expires = g.since.Add(p.keptFor())\n", New: "	g.expires = g.since.Add(p.req.TTL)\n",
			Test: "TestWhoIsGrantedUnaskedHasTheClaim",
		},
		{
			Name: "what is granted unasked lives on without its client", File: fairLine, Pkg: memory,
			Old: "	g.expires = g.since.Add(p.keptFor())\n", New: "	g.expires = g.since.Add(driver.MaxTTL)\n",
			Test: inMemory("DeadWaiterHoldsUpTheLine"),
		},
		{
			Name: "the line is served while the lock is held", File: fairLine, Pkg: memory,
			Old: "	if _, held := s.live(req.Name); held {\n", New: "	if req.Owner == \"\" {\n",
			Test: inMemory("LineForgetsWhoHoldsTheLock"),
		},
		{
			Name: "who sleeps is not told that the line was served", File: "lock/memlock/store.go", Pkg: memory,
			Old: "	if granted {\n		s.wakeSleepers(first.backend, name, held)\n", New: "	if granted {\n",
			Test: "TestAPlainReleaseServesTheLineFirst",
		},
		{
			Name: "the first in line is not told of a life cut short", File: "lock/memlock/store.go", Pkg: memory,
			Old: "		s.wakeFirst(d.Name)\n", New: "", Test: "TestOnlyTheFirstIsTold",
		},
	}
}

// fairFrontMutants are faults in how a process waits in line.
func fairFrontMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "who has begun to listen asks in a loop", File: "lock/queue_fair.go", Pkg: front,
			Old: " || k.q.listening != nil) && k.q.listens()", New: ") && k.q.listens()",
			Test: "TestWhoNeedNotListenAnyMoreAsksInALoop",
		},
		{
			Name: "short leases ask too late", File: "lock/queue_fair.go", Pkg: front,
			Old: "driver.PauseInLine(k.again)", New: "driver.PauseFor(k.again)",
			Test: "TestShortLeasesLoseTheirPlaces",
		},
		{
			Name: "a fair try is refused for what lingers", File: "lock/queue.go", Pkg: front,
			Old: "			side = \"\"\n", New: "			side += \"\"\n",
			Test: "TestAFairTryIsRefusedForWhatLingers",
		},
		{
			Name: "goroutines of a process wait for one another in line", File: "lock/queue_side.go", Pkg: memory,
			Old:  "		return \"fair \" + strconv.FormatUint(c.owners.Add(1), 36)\n",
			New:  "		return \"fair\"\n",
			Test: inMemory("WaitersAreNotServedInOrder"),
		},
		{
			Name: "who waits for a fair lock does not say so", File: "lock/want.go", Pkg: memory,
			Old: "		return w.fair || !w.mayStand()", New: "		return !w.mayStand()",
			Test: inMemory("WaitersAreNotServedInOrder"),
		},
		{
			Name: "a place is not kept in time", File: "lock/queue_fair.go", Pkg: memory,
			Old:  "	pause := k.q.standing.shorten(min(driver.PauseInLine(k.again), longestWait))\n",
			New:  "	pause := longestWait\n",
			Test: inMemory("LiveWaiterLosesItsPlace"),
		},
		{
			Name: "a fixed lease is granted unasked", File: "lock/acquire_stand.go", Pkg: memory,
			Old: "k.try || !k.want.mayStand() {", New: "k.try || !k.want.fair && !k.want.mayStand() {",
			Test: inMemory("FixedLeaseIsNotServedWhole"),
		},
		{
			Name: "a wait for a fair lock ends and nobody hears", File: "lock/acquire_stand.go", Pkg: memory,
			Old:  "	_, err := k.q.client.backend.Release(ctx, k.req.Ungranted())\n",
			New:  "	_, err := ctx, error(driver.ErrLost)\n",
			Test: inMemory("WaiterWhoGaveUpHoldsUpTheLine"),
		},
		{
			Name: "who is next sleeps past the holder's end", File: "lock/queue_fair.go", Pkg: front,
			Old: "held.MayBeNext() && left", New: "held.Place == 0 && left",
			Test: "TestWhoIsNextSleepsPastADeadHolder",
		},
		{
			Name: "who is told of its turn does not listen", File: "lock/queue_fair.go", Pkg: front,
			Old:  "	if (held.Listen || held.Claim == 0 || k.q.listening != nil) && k.q.listens() {",
			New:  "	if held.Place == 0 && k.q.listens() {",
			Test: "TestATurnIsHeardOfAtOnce",
		},
		{
			Name: "a fair grant told unasked is not for who waits", File: "lock/acquire_stand.go", Pkg: front,
			Old: "g.Token == s.token || s.rising && s.isNewer(g)", New: "g.Token == s.token",
			Test: "TestATurnIsHeardOfAtOnce",
		},
	}
}
