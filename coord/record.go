package coord

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// state is what has happened, as it is stored.
type state struct {
	Reason   string         `json:"reason,omitempty"`
	Decided  int64          `json:"decided,omitempty"` // µs
	Progress []txn.Progress `json:"progress,omitempty"`
	Checked  txn.Op         `json:"checked,omitzero"`
	Attempts []txn.Attempt  `json:"attempts,omitempty"`
	Dropped  int            `json:"dropped,omitempty"`
	// Complete: nothing had been called that is not entered here when this was written,
	// under this epoch. Whoever claims the record may call before it writes. A record without
	// it was left behind by a crash, and its idle branches may have been called.
	Complete bool  `json:"complete,omitempty"`
	Epoch    int64 `json:"epoch,omitempty"`
}

// encodeSpec stores what was asked and says how to recognise it.
func encodeSpec(d *txn.Definition) (spec []byte, digest string, err error) {
	anonymous := *d
	anonymous.ID = "" // it has a column, and a repeated submit may leave it out
	spec, err = json.Marshal(&anonymous)
	if err != nil {
		return nil, "", fmt.Errorf("encode transaction: %w", err)
	}
	sum := sha256.Sum256(spec)
	return spec, hex.EncodeToString(sum[:16]), nil
}

// decode reads a record. What is complete under an epoch has everything entered that was
// called until then; 0 is none.
func decode(rec *driver.Record) (t *txn.Transaction, complete int64, err error) {
	t = head(rec)
	var s state
	if err := json.Unmarshal(rec.Spec, &t.Definition); err != nil {
		return nil, 0, fmt.Errorf("transaction %s: stored definition: %w", rec.ID, err)
	}
	if err := json.Unmarshal(rec.State, &s); err != nil {
		return nil, 0, fmt.Errorf("transaction %s: stored state: %w", rec.ID, err)
	}
	t.ID = rec.ID
	t.Reason, t.Progress, t.Checked, t.Attempts, t.Dropped = s.Reason, s.Progress, s.Checked, s.Attempts, s.Dropped
	if s.Decided != 0 {
		t.Decided = fromMicro(s.Decided)
	}
	t.Progress = fit(t.Progress, len(t.Branches))
	if s.Complete {
		complete = s.Epoch
	}
	return t, complete, nil
}

// head is what the columns of a record tell.
func head(rec *driver.Record) *txn.Transaction {
	return &txn.Transaction{
		Definition: txn.Definition{ID: rec.ID, Mode: rec.Mode, Name: rec.Name},
		Status:     rec.Status, Parked: rec.Parked, Waits: rec.Waits,
		Created: rec.Created, Updated: rec.Updated, Finished: rec.Finished,
		Deadline: rec.Deadline, Due: rec.Due,
		Owner: rec.Owner, Epoch: rec.Epoch, Revision: rec.Revision,
	}
}

// fit makes room for the progress of branches that joined.
func fit(progress []txn.Progress, branches int) []txn.Progress {
	for len(progress) < branches {
		progress = append(progress, txn.Progress{})
	}
	return progress
}

// doubt marks what a crashed owner may have called without entering it.
func doubt(t *txn.Transaction) {
	if t.Status != txn.Running {
		return
	}
	for i := range t.Progress {
		if op := &t.Progress[i].Do; op.State == txn.Idle && t.Branches[i].Do != "" {
			op.State = txn.Unsure
		}
	}
}
