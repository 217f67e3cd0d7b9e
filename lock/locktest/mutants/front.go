package main

// mutants lists all of them.
func mutants() []mutant {
	var all []mutant
	all = append(all, contestMutants()...)
	all = append(all, leaseMutants()...)
	all = append(all, queueMutants()...)
	all = append(all, storeMutants()...)
	return append(all, redisMutants()...)
}

// inMemory names a behaviour of the conformance suite on memory, in virtual time.
func inMemory(behaviour string) string { return "TestConformanceInVirtualTime/" + behaviour }

const memory = "lock/memlock"

// contestMutants are faults in asking the backend and cleaning up after it.
func contestMutants() []mutant {
	return []mutant{
		{
			name: "the deadline counts from the reply", file: "lock/contest.go", pkg: memory,
			old:  "k.q.take(ctx, parent, k.mutex, grant, sent, k.unknown)",
			new:  "k.q.take(ctx, parent, k.mutex, grant, sent-sent+c.now(), k.unknown)",
			test: inMemory("LossComesAfterTheNextGrant"),
		},
		{
			name: "a retry comes under a new owner", file: "lock/contest.go", pkg: memory,
			old:  "	sent := c.now()\n",
			new:  "	sent := c.now()\n	k.req.Owner = c.newOwner()\n",
			test: inMemory("LostReplyBlocksItsOwnRetry"),
		},
		{
			name: "the waiter does not look again after it subscribed", file: "lock/contest.go", pkg: memory,
			old:  "	if k.listen(ctx) {\n		return nil // a release may have come before we listened: ask again\n	}\n",
			new:  "	k.listen(ctx)\n",
			test: inMemory("WakeUpComesBeforeTheWatch"),
		},
		{
			name: "an unknown acquire is not cleaned up after", file: "lock/contest.go", pkg: memory,
			old:  "	if k.unknown {\n		k.q.client.settle(",
			new:  "	if false {\n		k.q.client.settle(",
			test: inMemory("LostReplyLeavesALock"),
		},
		{
			name: "what another goroutine of the process holds counts as ours", file: "lock/contest.go", pkg: memory,
			old: "	grant, err := c.backend.Acquire(ctx, k.req)\n",
			new: "	grant, err := c.backend.Acquire(ctx, k.req)\n" +
				"	if h, ok := errors.AsType[*driver.HeldError](err); ok && h.Owner[:len(c.id)] == c.id {\n" +
				"		grant, err = driver.Grant{Name: k.req.Name, Owner: h.Owner, TTL: k.req.TTL, Token: 1, Tokens: 1}, nil\n" +
				"	}\n",
			test: inMemory("MinHoldEndsEarly"),
		},
		{
			name: "clean-up releases by name", file: "lock/settle.go", pkg: memory,
			old:  "	_, err := c.backend.Release(ctx, g)\n",
			new:  "	_, err := c.backend.(driver.Forcer).ForceRelease(ctx, g.Name)\n",
			test: inMemory("CleanUpFreesTheNextHolder"),
		},
		{
			name: "clean-up believes the first miss", file: "lock/settle.go", pkg: memory,
			old: "misses == 2", new: "misses == 1",
			test: inMemory("LateRequestLeavesALock"),
		},
		{
			name: "an unknown release is not repeated", file: "lock/hold.go", pkg: memory,
			old:  "	default:\n		c.settle(h.grant)\n",
			new:  "	default:\n",
			test: inMemory("LostUnlockLeavesALock"),
		},
	}
}

// leaseMutants are faults in leases and their renewal.
func leaseMutants() []mutant {
	return []mutant{
		{
			name: "the client counts tokens", file: "lock/hold.go", pkg: memory,
			old:  "h.first.begin(parent, h, m, grant.Token)",
			new:  "h.first.begin(parent, h, m, q.client.owners.Load())",
			test: inMemory("TokenGoesBack"),
		},
		{
			name: "a grant counts however late it arrives", file: "lock/hold.go", pkg: memory,
			old:  "	if h.expired(h.q.client.now()) {\n		return errTooLate\n	}\n",
			new:  "",
			test: inMemory("LateGrantIsUsed"),
		},
		{
			name: "the minimum hold time is ignored", file: "lock/hold.go", pkg: memory,
			old: "rest > 0", new: "rest < 0",
			test: inMemory("MinHoldEndsEarly"),
		},
		{
			name: "the deadline has no margin", file: "lock/hold.go", pkg: memory,
			old: " - margin(h.grant.TTL)", new: "",
			test: inMemory("LossLeavesNoMargin"),
		},
		{
			name: "renewal goes on after unlock", file: "lock/hold.go", pkg: memory,
			old:  "	h.q.client.renewer.remove(h)\n	waiting, err := h.giveBack(ctx)\n",
			new:  "	waiting, err := h.giveBack(ctx)\n",
			test: inMemory("RenewalSurvivesUnlock"),
		},
		{
			name: "the deadline counts from the reply to a renewal", file: "lock/lane.go", pkg: memory,
			old: "r.done(h, sent, errs[i])", new: "r.done(h, now, errs[i])",
			test: inMemory("SlowRenewalDelaysTheLoss"),
		},
		{
			name: "renewal stops at the first error", file: "lock/renewer.go", pkg: memory,
			old: "r.schedule(h, r.client.now()+retryAfter(h.grant.TTL))", new: "r.schedule(h, never)",
			test: inMemory("RenewalStopsAtTheFirstError"),
		},
		{
			name: "a fixed lease is renewed", file: "lock/hold.go", pkg: memory,
			old: "fixed: m.opts.Fixed, ", new: "",
			test: inMemory("FixedLeaseIsRenewed"),
		},
		{
			name: "a loss found by a renewal is not told", file: "lock/renewer.go", pkg: memory,
			old: "		return errTaken\n", new: "		return nil\n",
			test: inMemory("LossStaysSilent"),
		},
		{
			name: "re-entry does not look at the client", file: "lock/reentry.go", pkg: memory,
			old: "l.hold.q.client == m.client && ", new: "",
			test: inMemory("StrangerReenters"),
		},
	}
}

// queueMutants are faults among the goroutines of one process.
func queueMutants() []mutant {
	return []mutant{
		{
			name: "hand-off repeats the token", file: "lock/handoff.go", pkg: memory,
			old: "next.mutex, h.lease.token+1)", new: "next.mutex, h.lease.token)",
			test: inMemory("TokenIsHandedOnTwice"),
		},
		{
			name: "hand-off uses tokens it has not reserved", file: "lock/handoff.go", pkg: memory,
			old: "h.lease.token+1 < h.grant.Token+uint64(h.grant.Tokens) &&", new: "true &&",
			test: inMemory("TokenIsHandedOnTwice"),
		},
		{
			name: "the inner unlock releases", file: "lock/handoff.go", pkg: memory,
			old: "l.root.entered > 0 || h.passOn()", new: "h.passOn()",
			test: inMemory("ReentryFreesTheLockEarly"),
		},
		{
			name: "a cancelled waiter keeps its turn", file: "lock/queue.go", pkg: memory,
			old:  "		q.decline(<-w.turn)\n",
			new:  "		<-w.turn\n",
			test: inMemory("CancelledWaiterTakesTheTurn"),
		},
		{
			name: "close leaves what is held", file: "lock/client.go", pkg: memory,
			old:  "errors.Join(c.releaseAll(ctx, held), c.drain(ctx))",
			new:  "errors.Join(c.releaseAll(ctx, held[:0]), nil)",
			test: inMemory("CloseLeavesAGrant"),
		},
		{
			name: "control characters pass", file: "lock/name.go", pkg: memory,
			old: "if unicode.IsControl(r) {", new: "if unicode.IsControl(r) && i < 0 {",
			test: inMemory("BadNameReachesTheStore"),
		},
	}
}
