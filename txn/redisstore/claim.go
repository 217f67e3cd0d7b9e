package redisstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// claimRounds is how often a claim looks again when others were quicker.
	claimRounds = 3
	// straggling is how much later than the first node of a cluster another one may answer.
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

// claimOnce looks and takes, and reports whether there was as much as wanted.
func (s *Store) claimOnce(ctx context.Context, c driver.Claim, claimed *driver.Claimed) (full bool, err error) {
	seen, err := s.peek(ctx, c, claimed)
	if err != nil || len(seen) == 0 {
		return false, err
	}
	return len(seen) == c.Limit, s.takeSeen(ctx, c, seen, claimed)
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
	s.single.runAll(ctx, nodes, straggling)
	failed := nodes.firstError()
	var seen []place
	for _, result := range nodes.results() {
		found, err := timedList(result, claimed)
		failed = cmp.Or(failed, err)
		for i := 1; i < found.Len(); i++ {
			due, id, _ := strings.Cut(found.At(i).Str, "\x00")
			seen = append(seen, place{due, id})
		}
	}
	if len(seen) == 0 {
		return nil, failed
	}
	slices.SortFunc(seen, place.compare)
	return seen[:min(len(seen), c.Limit)], nil
}

// timedList returns an answer whose first item is the server's time. The nodes of a
// cluster may differ a little; the latest counts.
func timedList(result redisconn.Result, claimed *driver.Claimed) (redisconn.Reply, error) {
	values, err := listOf(result, 1)
	if err != nil {
		return values, err
	}
	now, err := parseStamp(values.At(0).Str)
	if now.After(claimed.Now) {
		claimed.Now = now
	}
	return values, err
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
	if !s.single.conn.Cluster() {
		return s.single.add(nil, c.From, redisconn.Call{Script: s.scripts.peek, Keys: all, Args: args})
	}
	var nodes groups
	for i := range all {
		call := redisconn.Call{Script: s.scripts.peek, Keys: all[i : i+1], Args: args}
		nodes = s.single.add(nodes, c.From+i, call)
	}
	return nodes
}

// takeSeen hands over what was seen, unless somebody else has it by now. What one
// shard has handed over counts, even if another one failed.
func (s *Store) takeSeen(ctx context.Context, c driver.Claim, seen []place, claimed *driver.Claimed) error {
	nodes := s.takes(c, seen)
	s.single.runAll(ctx, nodes, 0)
	failed := nodes.firstError()
	taken := make(map[string]*driver.Record, len(seen))
	for _, result := range nodes.results() {
		values, err := timedList(result, claimed)
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

// takes are the calls that take what was seen, one per shard.
func (s *Store) takes(c driver.Claim, seen []place) groups {
	var ids [driver.Shards][]string
	for _, p := range seen {
		shard := driver.Shard(p.id)
		ids[shard] = append(ids[shard], p.id)
	}
	var nodes groups
	lease := number(c.Lease.Microseconds())
	for shard := range ids {
		if len(ids[shard]) == 0 {
			continue
		}
		args := append(make([]string, 0, 3+len(ids[shard])), c.Owner, lease, c.Target)
		args = append(args, ids[shard]...)
		call := redisconn.Call{Script: s.scripts.take, Keys: s.keys[shard].of(ids[shard]), Args: args}
		nodes = s.single.add(nodes, shard, call)
	}
	return nodes
}

// parseAll reads records that a script has answered after the time, each with its ID.
func parseAll(values redisconn.Reply, into map[string]*driver.Record) error {
	for i := 1; i < values.Len(); i++ {
		fields := values.At(i)
		if fields.Len() == 0 {
			return errAnswer
		}
		rec, err := parse(fields.At(0).Str, fields, 1)
		if err != nil {
			return err
		}
		into[rec.ID] = rec
	}
	return nil
}
