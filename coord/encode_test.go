package coord

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// TestStateSurvivesTheStore: whatever a transaction holds is read back as it was
// written.
func TestStateSurvivesTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &txn.Transaction{
			Reason:   rapid.String().Draw(t, "reason"),
			Progress: rapid.SliceOfN(progressGen(), 0, 3).Draw(t, "progress"),
			Attempts: rapid.SliceOfN(attemptGen(), 0, 3).Draw(t, "attempts"),
			Checked:  opGen().Draw(t, "checked"),
			Dropped:  rapid.IntRange(0, 9).Draw(t, "dropped"),
			Decided:  timeGen().Draw(t, "decided"),
		}
		want.Epoch = rapid.Int64Range(1, 1<<40).Draw(t, "epoch")
		complete := int64(0)
		if rapid.Bool().Draw(t, "complete") {
			complete = want.Epoch
		}
		rec := &driver.Record{Epoch: want.Epoch, Spec: []byte("{}"), State: encodeState(want, complete != 0)}
		got, gotComplete, err := decode(rec)
		if err != nil {
			t.Fatalf("%v in %s", err, rec.State)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(txn.Transaction{})); diff != "" || gotComplete != complete {
			t.Fatalf("%s\n%s", diff, rec.State)
		}
	})
}

// TestHandingOnChangesNothingElse: a record that is put back as it was claimed is complete
// under its new epoch, and otherwise the same, whatever another version keeps there.
func TestHandingOnChangesNothingElse(t *testing.T) {
	for _, c := range []struct{ state, want string }{
		{`{"new":1,"complete":true,"epoch":6}`, `{"new":1,"complete":true,"epoch":7}`},
		{`{"new":1,"complete":true,"epoch":5}`, `{"new":1,"complete":true,"epoch":5}`},
		{`{"new":1}`, `{"new":1}`},
	} {
		if got := string(handOn([]byte(c.state), 7)); got != c.want {
			t.Errorf("%s became %s, want %s", c.state, got, c.want)
		}
	}
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
			State:   rapid.SampledFrom([]txn.OpState{txn.Idle, txn.Unsure, txn.Done, txn.Refused, txn.Skipped}).Draw(t, "state"),
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
			At: time.UnixMicro(rapid.Int64Range(0, 1<<52).Draw(t, "at")).UTC(), Took: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "took")),
			Answer: rapid.String().Draw(t, "answer"), Excerpt: rapid.String().Draw(t, "excerpt"), By: rapid.String().Draw(t, "by"),
			Count: rapid.IntRange(0, 9).Draw(t, "count"), Until: timeGen().Draw(t, "until"),
		}
	})
}
