package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// reachMutants are faults in reaching participants over the network.
func reachMutants() []mutants.Mutant {
	const http = "coord/httpcall"
	return []mutants.Mutant{
		{
			Name: "http: redirects are followed", File: "coord/httpcall/request.go", Pkg: http,
			Old:  "c.secure.RoundTrip(",
			New:  "(&http.Client{Transport: c.secure}).Do(",
			Test: "TestRedirectsAreNotFollowed",
		},
		{
			Name: "http: a redirect counts as done", File: "coord/httpcall/reply.go", Pkg: http,
			Old:  "case status >= 200 && status < 300:",
			New:  "case status >= 200 && status < 400:",
			Test: "TestAnswers",
		},
		{
			Name: "http: an error of the server counts as a refusal", File: "coord/httpcall/reply.go", Pkg: http,
			Old:  "case status == http.StatusConflict:",
			New:  "case status == http.StatusConflict || status == http.StatusInternalServerError:",
			Test: "TestAnswers",
		},
		{
			Name: "http: a result that breaks off counts as whole", File: "coord/httpcall/reply.go", Pkg: http,
			Old:  "	case err != nil:\n		note := ",
			New:  "	case err != nil && result == nil:\n		note := ",
			Test: "TestHostileParticipants",
		},
		{
			Name: "http: a request that may have arrived is sent again", File: "internal/http1/pool.go",
			Pkg:  "internal/http1",
			Old:  "!unsent || !c.used",
			New:  "(!unsent && err == nil) || !c.used",
			Test: "TestWhatHasLeftIsNotRepeated",
		},
		{
			Name: "http: what follows a reply answers the next call", File: "internal/http1/reply.go",
			Pkg:  "internal/http1",
			Old:  " && c.in.Buffered() == 0",
			New:  "",
			Test: "TestConnectionsThatAreNotUsedAgain",
		},
		{
			Name: "http: a repeated Content-Length counts", File: "internal/http1/head.go", Pkg: "internal/http1",
			Old:  "	if h.length >= 0 {\n		return false\n	}\n	var ok bool",
			New:  "	var ok bool",
			Test: "FuzzReply",
		},
		{
			Name: "forbidden addresses are refused by their names only", File: "coord/allow/dial.go",
			Pkg:  "coord/allow",
			Old:  "return d.rules.checkAddr(e, to.Addr())",
			New:  "_ = to\n		return nil",
			Test: "TestNamesThatTurnIntoAddresses",
		},
	}
}

const plans = "txn/plan"

// answerMutants are faults in what an answer makes of a transaction, and in the order
// of its calls.
func answerMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "the refusal of a confirmation counts", File: "txn/plan/apply.go", Pkg: plans,
			Old:  "case txn.PhaseConfirm, txn.PhaseUndo:",
			New:  "case txn.PhaseUndo:",
			Test: "TestApply/confirm_refused",
		},
		{
			Name: "a participant that is still working has failed", File: "txn/plan/apply.go", Pkg: plans,
			Old:  "		op.Due = askAgain(a, early, now)\n	case txn.AnswerFailed:\n",
			New:  "		enterFailure(t, s, op, early, now)\n	case txn.AnswerFailed:\n",
			Test: "TestApply/pending",
		},
		{
			Name: "a failure counts as not done", File: "txn/plan/apply.go", Pkg: plans,
			Old: "		op.State = txn.Unsure\n		enterFailure(t, s, op, early, now)\n" +
				"	case txn.AnswerUnreached:",
			New:  "		enterFailure(t, s, op, early, now)\n	case txn.AnswerUnreached:",
			Test: "TestApply/failed",
		},
		{
			Name: "attempts are never used up", File: "txn/plan/apply.go", Pkg: plans,
			Old:  "return op.Tries >= p.Attempts",
			New:  "return p.Attempts < 0",
			Test: "TestAttemptsAreUsedUp",
		},
		{
			Name: "hooks are not asked", File: "txn/plan/walk.go", Pkg: plans,
			Old:  "if policy.Then != txn.Hook || ",
			New:  "if policy.Then == txn.Hook || ",
			Test: "TestHookDone",
		},
		{
			Name: "pauses do not grow", File: "txn/plan/ladder.go", Pkg: plans,
			Old:  "		pause *= 2\n",
			New:  "		pause *= 1\n",
			Test: "TestPause",
		},
		{
			Name: "a branch with an unknown outcome is not undone", File: "txn/plan/walk.go", Pkg: "txn/saga",
			Old:  "	case txn.Idle, txn.Refused:\n",
			New:  "	case txn.Idle, txn.Refused, txn.Unsure:\n",
			Test: "TestPlan/undo_both,_the_later_first",
		},
		{
			Name: "undoing does not wait for calls under way", File: "txn/plan/walk.go", Pkg: "txn/saga",
			Old:  "	return p.Do.InFlight || p.Hook.InFlight && !p.Undo.Spent\n",
			New:  "	return false\n",
			Test: "TestPlan/undo_waits_for_calls_forward",
		},
		{
			Name: "branches are undone in forward order", File: "txn/plan/walk.go", Pkg: "txn/saga",
			Old:  "!allUndone(t, g.After(i), touched)",
			New:  "!allUndone(t, g.Before(i), touched)",
			Test: "TestPlan/undo_in_reverse",
		},
		{
			Name: "branches do not wait for those before them", File: "txn/plan/walk.go", Pkg: "txn/saga",
			Old:  "	for _, j := range indexes {\n		if !t.Progress[j].Do.State.Over() {\n",
			New:  "	for _, j := range indexes {\n		if t.Progress[j].Do.State == txn.Unsure {\n",
			Test: "TestPlan/begins",
		},
	}
}

// modeMutants are faults in what modes decide.
func modeMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "deadlines are ignored", File: "txn/plan/deadline.go", Pkg: "txn/saga",
			Old:  "return !t.Deadline.IsZero() && !now.Before(t.Deadline)",
			New:  "return t.Deadline.IsZero() && !now.Before(t.Deadline) && false",
			Test: "TestPlan/deadline",
		},
		{
			Name: "a saga that only goes forward rolls back", File: "txn/saga/plan.go", Pkg: "txn/saga",
			Old:  "	case t.Recovery == txn.Forward:\n		return onward(t, w)\n",
			New:  "",
			Test: "TestPlan/forward,_refused",
		},
		{
			Name: "a refused step is passed over", File: "txn/plan/walk.go", Pkg: "txn/saga",
			Old:  "&& w.Refused < 0\n",
			New:  "\n",
			Test: "TestPlan/forward,_refused",
		},
		{
			Name: "silence commits", File: "txn/tcc/plan.go", Pkg: "txn/tcc",
			Old:  "Decide: txn.RollingBack, Reason: \"not decided in time\"",
			New:  "Decide: txn.Committing, Reason: \"not decided in time\"",
			Test: "TestPlan/open_late",
		},
		{
			Name: "tries made by the caller are not canceled", File: "txn/tcc/plan.go", Pkg: "txn/tcc",
			Old:  "t.Branches[i].Do == \"\" || plan.Touched(t, i)",
			New:  "plan.Touched(t, i)",
			Test: "TestCallersTriesAreCanceled",
		},
		{
			Name: "a producer that does not answer says no", File: "txn/msg/plan.go", Pkg: "txn/msg",
			Old: "	case w.Spent != nil:\n		return txn.Plan{Park: plan.Why(t, step)}\n",
			New: "	case w.Spent != nil:\n" +
				"		return txn.Plan{Decide: txn.RolledBack, Reason: plan.Why(t, step)}\n",
			Test: "TestPlan/producer_says_nothing",
		},
	}
}
