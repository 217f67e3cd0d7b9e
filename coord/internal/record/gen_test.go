package record

import (
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/txn"
)

func transactionGen() *rapid.Generator[*txn.Transaction] {
	return rapid.Custom(func(t *rapid.T) *txn.Transaction {
		progress := rapid.SliceOfN(progressGen(), 0, 3).Draw(t, "progress")
		return &txn.Transaction{
			Definition: txn.Definition{Branches: make([]txn.Branch, len(progress))},

			Reason:   rapid.String().Draw(t, "reason"),
			Progress: progress,
			Attempts: rapid.SliceOfN(attemptGen(), 0, 3).Draw(t, "attempts"),
			Checked:  opGen().Draw(t, "checked"),
			Dropped:  rapid.IntRange(0, 9).Draw(t, "dropped"),
			Decided:  timeGen().Draw(t, "decided"),
			Epoch:    rapid.Int64Range(1, 1<<40).Draw(t, "epoch"),
		}
	})
}

func timeGen() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		us := rapid.Int64Range(0, 1<<52).Draw(t, "us")
		if us == 0 {
			return time.Time{}
		}
		return time.UnixMicro(us).UTC()
	})
}

func opGen() *rapid.Generator[txn.Op] {
	return rapid.Custom(func(t *rapid.T) txn.Op {
		return txn.Op{
			State: rapid.SampledFrom([]txn.OpState{txn.Idle, txn.Unsure, txn.Done, txn.Refused, txn.Skipped}).Draw(t,
				"state"),
			Tries:   rapid.IntRange(0, 3).Draw(t, "tries"),
			Calls:   rapid.IntRange(0, 3).Draw(t, "calls"),
			Due:     timeGen().Draw(t, "due"),
			Result:  rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "result"),
			Note:    rapid.String().Draw(t, "note"),
			Spent:   rapid.Bool().Draw(t, "spent"),
			Lasting: rapid.IntRange(0, 9).Draw(t, "lasting"),
			Lacking: rapid.IntRange(0, 9).Draw(t, "lacking"),
			Held:    rapid.Bool().Draw(t, "held"),
		}
	})
}

func progressGen() *rapid.Generator[txn.Progress] {
	return rapid.Custom(func(t *rapid.T) txn.Progress {
		return txn.Progress{
			Do: opGen().Draw(t, "do"), Confirm: opGen().Draw(t, "confirm"),
			Undo: opGen().Draw(t, "undo"), Hook: opGen().Draw(t, "hook"),
		}
	})
}

func attemptGen() *rapid.Generator[txn.Attempt] {
	return rapid.Custom(func(t *rapid.T) txn.Attempt {
		return txn.Attempt{
			Branch: rapid.String().Draw(t, "branch"), Op: rapid.String().Draw(t, "op"),
			Number: rapid.IntRange(0, 9).Draw(t, "number"), Target: txn.Target(rapid.String().Draw(t, "target")),
			At:     time.UnixMicro(rapid.Int64Range(0, 1<<52).Draw(t, "at")).UTC(),
			Took:   time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "took")),
			Answer: rapid.String().Draw(t, "answer"), Excerpt: rapid.String().Draw(t, "excerpt"),
			By:    rapid.String().Draw(t, "by"),
			Count: rapid.IntRange(0, 9).Draw(t, "count"), Until: timeGen().Draw(t, "until"),
		}
	})
}
