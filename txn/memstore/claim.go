package memstore

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Claim implements [driver.Store].
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	var claimed driver.Claimed
	err := s.locked(ctx, func() error {
		claimed.Now = micros(s.clock())
		for _, e := range s.takeClaimed(c, claimed.Now) {
			claimed.Records = append(claimed.Records, s.handOver(e, c, claimed.Now))
		}
		return nil
	})
	if err != nil {
		return driver.Claimed{}, fmt.Errorf("memstore: claim for %q: %w", c.Owner, err)
	}
	for i, rec := range claimed.Records {
		claimed.Records[i] = rec.Clone()
	}
	return claimed, nil
}

// Now implements [driver.Store].
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.locked(ctx, func() error {
		now = micros(s.clock())
		return nil
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("memstore: read the clock: %w", err)
	}
	return now, nil
}

// takeClaimed removes what the claim asks for from the queues.
func (s *Store) takeClaimed(c driver.Claim, now time.Time) []*entry {
	x := s.due
	if c.Target != "" {
		x = s.waits[c.Target]
	}
	if c.From == 0 && c.To == 0 {
		c.To = driver.Shards
	}
	var taken []*entry
	for x != nil && len(taken) < c.Limit {
		e := x.soonest(c.From, c.To)
		if e == nil || c.Target == "" && e.rec.Due.After(now) {
			break
		}
		s.removeFromQueues(e)
		taken = append(taken, e)
	}
	return taken
}

// handOver makes the claimant the record's owner. The record waits no longer, or
// a claim by its target would take it from its owner.
func (s *Store) handOver(e *entry, c driver.Claim, now time.Time) *driver.Record {
	rec := *e.rec
	rec.Owner, rec.Waits, rec.Due = c.Owner, "", micros(now.Add(c.Lease))
	rec.Epoch++
	rec.Revision++
	s.replaceRecord(e, &rec)
	return &rec
}
