package main

// storeMutants are faults in the reference backend.
func storeMutants() []mutant {
	return []mutant{
		{
			name: "anybody may release", file: "lock/memlock/store.go", pkg: memory,
			old: "held && g.owner == d.Owner {", new: "held || g.owner == d.Owner {",
			test: inMemory("StrangerReleases"),
		},
		{
			name: "anybody may renew", file: "lock/memlock/store.go", pkg: memory,
			old: "if !held || g.owner != d.Owner {", new: "if !held {",
			test: inMemory("RenewalExtendsAStranger"),
		},
		{
			name: "renewal re-creates", file: "lock/memlock/store.go", pkg: memory,
			old: "if !held || g.owner != d.Owner {", new: "if held && g.owner != d.Owner {",
			test: inMemory("RenewalCreatesALock"),
		},
		{
			name: "a repeated acquire is a new grant", file: "lock/memlock/store.go", pkg: memory,
			old: "	if !held {\n		g = grant{", new: "	if true {\n		g = grant{",
			test: inMemory("RetriedAcquireCountsTwice"),
		},
		{
			name: "a repeated release fails", file: "lock/memlock/store.go", pkg: memory,
			old: "if s.released.has(d.Owner) {", new: "if false {",
			test: inMemory("RetriedReleaseFails"),
		},
		{
			name: "a block reserves one token", file: "lock/memlock/store.go", pkg: memory,
			old: "s.token += uint64(req.Tokens)", new: "s.token++",
			test: inMemory("TokenGoesBackAfterABlock"),
		},
		{
			name: "a forced release keeps the token", file: "lock/memlock/store.go", pkg: memory,
			old: "	s.token++\n", new: "",
			test: inMemory("ForcedReleaseKeepsTheToken"),
		},
		{
			name: "a release wakes nobody", file: "lock/memlock/store.go", pkg: memory,
			old: "		w.wake()\n", new: "",
			test: inMemory("ReleaseWakesNobody"),
		},
		{
			name: "an expired grant is not freed", file: "lock/memlock/store.go", pkg: memory,
			old: "if ok && !time.Now().Before(g.expires) {", new: "if ok && time.Now().IsZero() {",
			test: inMemory("ExpiredLeaseBlocksOthers"),
		},
	}
}
