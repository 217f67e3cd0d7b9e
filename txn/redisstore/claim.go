package redisstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// claimRounds is how often a claim looks again when others were quicker.
	claimRounds = 3
	// straggling is how much later than the first node of a cluster another one
	// may say what it has.
	straggling = 500 * time.Millisecond
)

// Claim implements [driver.Store]. It looks first, and takes what it has seen
// in a second round trip; when there is nothing to claim, it makes only one.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	if c.From == 0 && c.To == 0 {
		c.To = driver.Shards
	}
	var claimed driver.Claimed
	wanted, full := c.Limit, true
	for round := 0; full && round < claimRounds && len(claimed.Records) < wanted; round++ {
		c.Limit = wanted - len(claimed.Records)
		var err error
		if full, err = s.claimOnce(ctx, c, &claimed); err != nil && len(claimed.Records) == 0 {
			return driver.Claimed{}, describe("claim for", c.Owner, err)
		}
	}
	return claimed, nil
}

// claimOnce looks and takes, and tells whether there was as much as wanted.
func (s *Store) claimOnce(ctx context.Context, c driver.Claim, claimed *driver.Claimed) (full bool, err error) {
	seen, err := s.peek(ctx, c, claimed)
	if err != nil || len(seen) == 0 {
		return false, err
	}
	return len(seen) == c.Limit, s.take(ctx, c, seen, claimed)
}

// place is where a record stands among those that can be claimed.
type place struct{ due, id string }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.due, q.due), cmp.Compare(p.id, q.id))
}

// peek looks for what can be claimed. A server of a cluster that does not answer
// must not keep the others' records from their owners.
func (s *Store) peek(ctx context.Context, c driver.Claim, claimed *driver.Claimed) ([]place, error) {
	nodes := s.peeks(c)
	s.single.sendAll(ctx, nodes, straggling)
	failed := nodes.failed()
	var seen []place
	for _, cmd := range nodes.answered() {
		values, err := answerAt(cmd, claimed)
		failed = cmp.Or(failed, err)
		for _, text := range texts(values) {
			due, id, _ := strings.Cut(text, "\x00")
			seen = append(seen, place{due, id})
		}
	}
	if len(seen) == 0 {
		return nil, failed
	}
	slices.SortFunc(seen, place.compare)
	return seen[:min(len(seen), c.Limit)], nil
}

// answerAt reads an answer that begins with the server's time. The nodes of a
// cluster may differ a little; the latest counts.
func answerAt(c *command, claimed *driver.Claimed) ([]any, error) {
	values, err := c.list(1)
	if err != nil {
		return nil, err
	}
	text, _ := values[0].(string)
	now, err := parseStamp(text)
	if now.After(claimed.Now) {
		claimed.Now = now
	}
	return values[1:], err
}

// peeks looks into all shards by one script, or by one per shard where they may
// be on different servers.
func (s *Store) peeks(c driver.Claim) groups {
	var all []string
	for shard := c.From; shard < c.To; shard++ {
		key := s.keys[shard].queue
		if c.Target != "" {
			key = s.keys[shard].index
		}
		all = append(all, key)
	}
	args := []string{number(int64(c.Limit)), c.Target}
	if s.single.cluster == nil {
		return s.single.add(nil, c.From, run(s.scripts.peek, all, args))
	}
	var nodes groups
	for i := range all {
		nodes = s.single.add(nodes, c.From+i, run(s.scripts.peek, all[i:i+1], args))
	}
	return nodes
}

// take hands over what was seen, unless somebody else has it by now. What one
// shard has handed over counts, even if another one failed.
func (s *Store) take(ctx context.Context, c driver.Claim, seen []place, claimed *driver.Claimed) error {
	nodes := s.takes(c, seen)
	s.single.sendAll(ctx, nodes, 0)
	failed := nodes.failed()
	taken := make(map[string]*driver.Record, len(seen))
	for _, cmd := range nodes.answered() {
		values, err := answerAt(cmd, claimed)
		if err == nil {
			err = parseAll(values, taken)
		}
		failed = cmp.Or(failed, err)
	}
	for _, p := range seen {
		if rec := taken[p.id]; rec != nil {
			claimed.Records = append(claimed.Records, rec)
		}
	}
	return failed
}

// takes are the commands that take what was seen, one per shard.
func (s *Store) takes(c driver.Claim, seen []place) groups {
	var ids [driver.Shards][]string
	for _, p := range seen {
		shard := driver.Shard(p.id)
		ids[shard] = append(ids[shard], p.id)
	}
	var nodes groups
	for shard := range ids {
		if len(ids[shard]) == 0 {
			continue
		}
		args := append([]string{c.Owner, number(c.Lease.Microseconds()), c.Target}, ids[shard]...)
		nodes = s.single.add(nodes, shard, run(s.scripts.take, s.keys[shard].of(ids[shard]), args))
	}
	return nodes
}

// parseAll reads records that a script has answered, each with its ID.
func parseAll(values []any, into map[string]*driver.Record) error {
	for _, value := range values {
		fields, _ := value.([]any)
		if len(fields) == 0 {
			return errAnswer
		}
		all := texts(fields)
		rec, err := parse(all[0], all[1:])
		if err != nil {
			return err
		}
		into[rec.ID] = rec
	}
	return nil
}
