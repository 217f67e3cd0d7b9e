package coord

import (
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// load reads a record, as often as it takes while the context lasts.
func (c *Coordinator) load(ctx context.Context, id string) (*driver.Record, error) {
	for wait := firstWait; ; wait = longer(wait) {
		rec, err := c.loadOnce(ctx, id)
		if err == nil || errors.Is(err, driver.ErrNotFound) || ctx.Err() != nil {
			return rec, err
		}
		if !sleep.ForBoth(ctx, c.life, wait) {
			return nil, err
		}
	}
}

func (c *Coordinator) loadOnce(ctx context.Context, id string) (*driver.Record, error) {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	rec, err := c.store.Load(bounded, id)
	return rec, orUnknown(id, c.trouble.noteResult(ctx, toRead, err))
}

// update makes one attempt at a conditional write.
func (c *Coordinator) update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return c.trouble.noteResult(ctx, toWrite, c.store.Update(bounded, was, rec))
}

// unknownError is an ID that the store has no record of, in words for people.
type unknownError struct{ id string }

func (e *unknownError) Error() string { return fmt.Sprintf("transaction %q is not known", e.id) }

// Unwrap makes it a [driver.ErrNotFound].
func (e *unknownError) Unwrap() error { return driver.ErrNotFound }

// orUnknown makes of a record that is not found an error that names the transaction instead
// of the store; other errors stay what they are.
func orUnknown(id string, err error) error {
	if errors.Is(err, driver.ErrNotFound) {
		return &unknownError{id}
	}
	return err
}
