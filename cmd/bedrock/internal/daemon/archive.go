package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/txview"
	"github.com/bedrock-go/bedrock/txn"
)

// archive appends transactions to files, one per day, a line of JSON each.
type archive struct{ dir string }

// add writes a batch. It is durable when add returns nil, since the transactions
// are then deleted.
func (a archive) add(_ context.Context, batch []*txn.Transaction) error {
	var lines bytes.Buffer
	encode := json.NewEncoder(&lines)
	for _, t := range batch {
		if err := encode.Encode(txview.Of(t)); err != nil {
			return fmt.Errorf("transaction %s: %w", t.ID, err)
		}
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(a.dir, "transactions-"+time.Now().UTC().Format(time.DateOnly)+".jsonl")
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lines.Bytes())
	return errors.Join(err, f.Sync(), f.Close())
}
