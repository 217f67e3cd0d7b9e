package coord

import (
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// createAndTell creates the record, and tells of it before anything is made of it here.
func (c *Coordinator) createAndTell(ctx context.Context, rec *driver.Record) error {
	err := c.createRecord(ctx, rec)
	if err == nil {
		c.tellSubmitted(ctx, rec)
	}
	return err
}

func (c *Coordinator) tellSubmitted(ctx context.Context, rec *driver.Record) {
	c.opts.Observer.Observe(ctx, Event{Kind: EventSubmitted, ID: rec.ID, Mode: rec.Mode, Name: rec.Name})
}

// createRecord creates the record, as often as it takes to know that it is there.
func (c *Coordinator) createRecord(ctx context.Context, rec *driver.Record) error {
	for wait := firstWait; ; wait = longer(wait) {
		err := c.createOnce(ctx, rec)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, driver.ErrExists):
			return c.compareStored(ctx, rec)
		case errors.Is(err, driver.ErrRefused):
			return &txn.InvalidError{Field: "definition", Problem: err.Error()}
		case ctx.Err() != nil:
			return &txn.InDoubtError{ID: rec.ID, Err: err}
		}
		if !sleep.ForBoth(ctx, c.life, wait) {
			return &txn.InDoubtError{ID: rec.ID, Err: err}
		}
	}
}

func (c *Coordinator) createOnce(ctx context.Context, rec *driver.Record) error {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return c.trouble.noteResult(ctx, toWrite, c.store.Create(bounded, rec))
}

// compareStored compares a new record with the one that has its ID. If the stored one
// cannot be read, it may be this very one, accepted and about to be driven by others.
func (c *Coordinator) compareStored(ctx context.Context, rec *driver.Record) error {
	stored, err := c.load(ctx, rec.ID)
	switch {
	case err != nil:
		return &txn.InDoubtError{ID: rec.ID, Err: err}
	case stored.Digest != rec.Digest || stored.Mode != rec.Mode:
		return fmt.Errorf("submit %s: %w", rec.ID, txn.ErrExists)
	case stored.Owner == rec.Owner && stored.Epoch == 1 && stored.Revision == 1 && stored.Created.Equal(rec.Created):
		return nil // our own write, whose acknowledgement was lost
	default:
		return errAccepted
	}
}

// errAccepted says that the same content was submitted before.
var errAccepted = errors.New("submitted before")
