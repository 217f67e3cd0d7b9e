package record

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// New is the record of a transaction that has just been accepted.
func New(t *txn.Transaction, spec []byte, digest string) *driver.Record {
	return &driver.Record{
		ID: t.ID, Mode: t.Mode, Name: t.Name, Digest: digest, Status: t.Status,
		Owner: t.Owner, Epoch: 1, Revision: 1, Due: t.Due, Deadline: t.Deadline,
		Created: t.Created, Updated: t.Updated, Spec: spec, State: EncodeState(t, t.Status == txn.Open),
	}
}

// Decode reads a record. Complete is the epoch under which its state was written with
// everything entered that had been called until then; 0 if something may be missing.
func Decode(rec *driver.Record) (t *txn.Transaction, complete int64, err error) {
	t = Head(rec)
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
		t.Decided = time.UnixMicro(s.Decided).UTC()
	}
	if err := checkSound(t, rec); err != nil {
		return nil, 0, fmt.Errorf("transaction %s: %w", rec.ID, err)
	}
	t.Progress = FitProgress(t.Progress, len(t.Branches))
	if s.Complete {
		complete = s.Epoch
	}
	return t, complete, nil
}

// checkSound refuses a record whose parts contradict one another. The definition was checked when
// it came, and whoever drives it relies on that: one that has been damaged since would end the
// process, and after a restart the next.
func checkSound(t *txn.Transaction, rec *driver.Record) error {
	switch _, err := txn.NewGraph(t.Branches); {
	case t.Mode != rec.Mode:
		return fmt.Errorf("stored definition: mode %.40q, and %.40q in its column", t.Mode, rec.Mode)
	case len(t.Progress) > len(t.Branches):
		return fmt.Errorf("stored state: progress of %d branches of %d", len(t.Progress), len(t.Branches))
	case err != nil:
		return fmt.Errorf("stored definition: %w", err)
	default:
		return nil
	}
}

// Head is what the columns of a record tell.
func Head(rec *driver.Record) *txn.Transaction {
	return &txn.Transaction{
		Definition: txn.Definition{ID: rec.ID, Mode: rec.Mode, Name: rec.Name},
		Status:     rec.Status, Parked: rec.Parked, Waits: rec.Waits,
		Created: rec.Created, Updated: rec.Updated, Finished: rec.Finished,
		Deadline: rec.Deadline, Due: rec.Due,
		Owner: rec.Owner, Epoch: rec.Epoch, Revision: rec.Revision,
	}
}

// FitProgress makes room for the progress of branches that joined.
func FitProgress(progress []txn.Progress, branches int) []txn.Progress {
	for len(progress) < branches {
		progress = append(progress, txn.Progress{})
	}
	return progress
}
