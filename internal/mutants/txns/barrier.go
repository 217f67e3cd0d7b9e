package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// barrierMutants are faults in the barrier of participants.
func barrierMutants() []mutants.Mutant {
	const (
		barrier = "txn/barrier"
		passage = "txn/barrier/passage.go"
	)
	return []mutants.Mutant{
		{
			Name: "barrier: marks are set outside of the business transaction", File: passage, Pkg: barrier,
			Old:  "b.setMarks(ctx, tx, own)\n	if err",
			New:  "b.setMarks(ctx, b.db, own)\n	if err",
			Test: "TestSQLite/errors",
		},
		{
			Name: "barrier: an empty compensation leaves no mark", File: passage, Pkg: barrier,
			Old: "		empty, err := b.layout.insert(ctx, tx, origin)\n		if err != nil {\n" +
				"			return Undecided, mark{}, err\n		}\n",
			New:  "		_, err := b.layout.read(ctx, tx, origin.key)\n		empty := err != nil\n",
			Test: "TestSQLite/verdicts",
		},
		{
			Name: "barrier: a duplicate is answered with a failure", File: passage, Pkg: barrier,
			Old:  "		return first.result, v, nil\n",
			New:  "		return nil, v, errors.New(\"done before\")\n",
			Test: "TestSQLite/verdicts",
		},
		{
			Name: "barrier: a duplicate gets no result", File: passage, Pkg: barrier,
			Old:  "		return first.result, v, nil\n",
			New:  "		return nil, v, nil\n",
			Test: "TestSQLite/verdicts",
		},
		{
			Name: "barrier: a call that was taken back is done", File: passage, Pkg: barrier,
			Old:  "		case found.cause != causeRefused:\n			return Hanging, found, nil\n",
			New:  "		case found.cause != causeRefused:\n			return Ran, found, nil\n",
			Test: "TestSQLite/verdicts",
		},
		{
			Name: "barrier: refusals are forgotten", File: "txn/barrier/refuse.go", Pkg: barrier,
			Old:  "	if !b.layout.remembers() {\n",
			New:  "	if b.layout.remembers() {\n",
			Test: "TestSQLite/refusals",
		},
		{
			Name: "barrier: a check leaves no mark", File: "txn/barrier/message.go", Pkg: barrier,
			Old: "	fresh, err := b.layout.insert(ctx, b.db, m)\n	if err == nil && !fresh {\n" +
				"		found, err = b.layout.read(ctx, b.db, m.key)\n	}\n",
			New: "	if prepared, err := b.layout.read(ctx, b.db, m.key); err == nil {\n" +
				"		found = prepared\n	}\n",
			Test: "TestSQLite/messages",
		},
	}
}
