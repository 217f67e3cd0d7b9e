package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// storeMutants are faults in the reference backend.
func storeMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "anybody may release", File: "lock/memlock/store.go", Pkg: memory,
			Old: "held && g.owner == d.Owner {", New: "held || g.owner == d.Owner {",
			Test: inMemory("StrangerReleases"),
		},
		{
			Name: "anybody may renew", File: "lock/memlock/store.go", Pkg: memory,
			Old: "if !held || g.owner != d.Owner {", New: "if !held {",
			Test: inMemory("RenewalExtendsAStranger"),
		},
		{
			Name: "renewal re-creates", File: "lock/memlock/store.go", Pkg: memory,
			Old: "if !held || g.owner != d.Owner {", New: "if held && g.owner != d.Owner {",
			Test: inMemory("RenewalCreatesALock"),
		},
		{
			Name: "a repeated acquire is a new grant", File: "lock/memlock/store.go", Pkg: memory,
			Old: "	if !held {\n		g = grant{", New: "	if !held || held {\n		g = grant{",
			Test: inMemory("RetriedAcquireCountsTwice"),
		},
		{
			Name: "a repeated release fails", File: "lock/memlock/store.go", Pkg: memory,
			Old: "if s.released.contains(owner) {", New: "if false {",
			Test: inMemory("RetriedReleaseFails"),
		},
		{
			Name: "a refusal tells the public form of the owner", File: "lock/memlock/store.go", Pkg: memory,
			Old: "HeldError{Owner: g.owner,", New: "HeldError{Owner: driver.PublicOwner(g.owner),",
			Test: inMemory("HolderIsNotNamed"),
		},
		{
			Name: "a block reserves one token", File: "lock/memlock/tokens.go", Pkg: memory,
			Old: "s.token += uint64(n)", New: "s.token++",
			Test: inMemory("TokenGoesBackAfterABlock"),
		},
		{
			Name: "a forced release keeps the token", File: "lock/memlock/store.go", Pkg: memory,
			Old: "	s.token++\n", New: "",
			Test: inMemory("ForcedReleaseKeepsTheToken"),
		},
		{
			Name: "a release wakes nobody", File: "lock/memlock/store.go", Pkg: memory,
			Old: "		} else {\n			w.signal()\n		}\n", New: "		}\n",
			Test: inMemory("ReleaseWakesNobody"),
		},
		{
			Name: "an expired grant is not freed", File: "lock/memlock/store.go", Pkg: memory,
			Old: "if ok && !s.clock().Before(g.expires) {", New: "if ok && s.clock().IsZero() {",
			Test: inMemory("ExpiredLeaseBlocksOthers"),
		},
	}
}
