package coord

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
)

// Enlist adds branches to an open transaction. The branches and the status are one
// row, so a branch joins before the decision or not at all.
func (c *Coordinator) Enlist(ctx context.Context, id string, branches ...txn.Branch) error {
	if len(branches) == 0 && c.checkRunning(ctx) == nil {
		return input.Errorf("branches", "there are none")
	}
	return c.changeTransaction(ctx, id, func(t *txn.Transaction) (bool, error) {
		if t.Status != txn.Open {
			return false, fmt.Errorf("enlist in %s (%s): %w", id, t.Status, notOpen(t.Status))
		}
		if c.expireIfLate(t) {
			return true, fmt.Errorf("enlist in %s (%s): %w", id, t.Reason, txn.ErrDecided)
		}
		before := len(t.Branches)
		given, err := joinBranches(t, branches)
		if err != nil || len(given) == before {
			return false, err
		}
		t.Progress = record.FitProgress(t.Progress, len(t.Branches))
		d := t.Definition
		d.Headers = nil // they were accepted, and those of a trace have come to them since
		_, err = c.check(c.checker, &d, true)
		if err == nil {
			err = c.checkFunctions(&t.Definition, before)
		}
		return err == nil, asGiven(err, given)
	})
}

// joinBranches adds the branches that are not there yet. It tells for each branch of the
// transaction which one given it is, or that it was there before.
func joinBranches(t *txn.Transaction, branches []txn.Branch) (given []int, err error) {
	given = slices.Repeat([]int{notGiven}, len(t.Branches))
	for i := range branches {
		b := &branches[i]
		j, there := t.Branch(b.ID)
		switch {
		case there && !sameBranch(&t.Branches[j], b):
			return nil, input.Errorf("branches", "%q is there already, with other content", b.ID)
		case there:
		case t.Mode == msg.Name && goesToTopic(*b):
			return nil, &txn.InvalidError{
				Field:   fmt.Sprintf("branches[%d].confirm", i),
				Problem: "a topic cannot join later; name it when the message is begun, or name its subscribers",
			}
		default:
			t.Branches, given = append(t.Branches, *b), append(given, i)
		}
	}
	return given, nil
}

func sameBranch(a, b *txn.Branch) bool {
	x, errX := encodeJSON(a)
	y, errY := encodeJSON(b)
	return errX == nil && errY == nil && x == y
}

func encodeJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
