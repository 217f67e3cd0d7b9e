package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// fairServerMutants are faults in fair locks through a server.
func fairServerMutants() []mutants.Mutant {
	const line, wait, client = "server/lock_line.go", "server/lock_wait.go", "client/line.go"
	return []mutants.Mutant{
		{
			Name: "server: a place is kept for who does not ask again", File: line, Pkg: "server",
			Old: "!asksAgain || ", New: "", Test: "TestAPlaceIsKeptForWhoAsksAgain",
		},
		{
			Name: "server: a place is given up by who asks again", File: line, Pkg: "server",
			Old: "!asksAgain || ", New: "true || ", Test: "TestAPlaceIsKeptForWhoAsksAgain",
		},
		{
			Name: "server: who has gone stays in line", File: line, Pkg: "server",
			Old: "ctx.Err() != nil || !errors.Is(err, driver.ErrHeld)", New: "false",
			Test: "TestAPlaceIsGivenUpWhenItsCallerHasGone",
		},
		{
			Name: "server: who was released waits on", File: line, Pkg: "server",
			Old: "		(*stop)(errReleased)\n", New: "		_ = stop\n", Test: "TestAReleaseEndsTheWaitOfItsOwner",
		},
		{
			Name: "server: who waits in line hears of releases only", File: wait, Pkg: "server",
			Old: "ok && req.Fair {", New: "ok && req.Fair && false {", Test: "TestWhoIsToldOfItsTurnKeepsAsking",
		},
		{
			Name: "client: a wait in line outlasts the lease", File: client, Pkg: "client",
			Old: "min(longestInLine, req.TTL/4)", New: "longestInLine", Test: "TestWhoStandsInLineWaitsAtTheServer",
		},
		{
			Name: "client: a wait in line outlasts its caller", File: client, Pkg: "client",
			Old: "wait = min(wait, time.Until(end)/3)", New: "_ = end", Test: "TestWhoStandsInLineWaitsAtTheServer",
		},
		{
			Name: "client: a server that does not wait is asked in a loop", File: client, Pkg: "client",
			Old: " || took < min(wait/2, visibly)", New: "", Test: "TestAServerThatDoesNotWaitIsAskedInALoop",
		},
		{
			Name: "client: who stands in line pauses between its requests", File: client, Pkg: "client",
			Old: "	held.Again, held.Listen, held.Claim = time.Nanosecond, false, 0\n", New: "",
			Test: "TestWhoStandsInLineWaitsAtTheServer",
		},
		{
			Name: "server: who ends takes the place of its copy along", File: line, Pkg: "server",
			Old: "leaves && !l.fairWaits.hasCopy(fairWait{req.Name, req.Owner})", New: "leaves",
			Test: "TestACopyTakesThePlaceAlong",
		},
	}
}
