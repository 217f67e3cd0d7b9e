package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/txn"
)

// archive appends transactions to files, one per day, a line each of the API's JSON.
type archive struct{ dir string }

// CheckArchive makes the folder of an archive, and checks that files can be made in it: the
// first transaction would be due only after weeks, and nothing would be removed from then on.
func CheckArchive(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".check-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// add writes a batch. It is durable when add returns nil, since the transactions
// are then deleted.
func (a archive) add(_ context.Context, batch []*txn.Transaction) error {
	var lines []byte
	for _, t := range batch {
		lines = append(apiwire.AppendJSON(lines, apiwire.Transaction(t)), '\n')
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(a.dir, "transactions-"+time.Now().UTC().Format(time.DateOnly)+".jsonl")
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Sync(), f.Close())
}
