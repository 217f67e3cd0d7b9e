package redisstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// claimRounds is how often a claim looks again when others were quicker.
const claimRounds = 3

// Claim implements [driver.Store]. It looks first, and takes what it has seen
// in a second round trip; when there is nothing to claim, it makes only one.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	if c.From == 0 && c.To == 0 {
		c.To = driver.Shards
	}
	var claimed driver.Claimed
	for range claimRounds {
		seen, err := s.peek(ctx, c, &claimed)
		if err == nil && len(seen) > 0 {
			err = s.take(ctx, c, seen, &claimed)
		}
		if err != nil {
			return driver.Claimed{}, describe("claim for", c.Owner, err)
		}
		if len(seen) == 0 || len(claimed.Records) > 0 {
			break
		}
	}
	return claimed, nil
}

// place is where a record stands among those that can be claimed.
type place struct{ due, id string }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.due, q.due), cmp.Compare(p.id, q.id))
}

// peek looks for what can be claimed. A server of a cluster that does not answer
// must not keep the others' records from their owners.
func (s *Store) peek(ctx context.Context, c driver.Claim, claimed *driver.Claimed) ([]place, error) {
	commands := s.peeks(c)
	if err := s.many.send(ctx, commands...); err != nil {
		return nil, err
	}
	var seen []place
	var failed error
	for _, cmd := range commands {
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
func (s *Store) peeks(c driver.Claim) []*command {
	var all []string
	for shard := c.From; shard < c.To; shard++ {
		key := s.keys[shard].queue
		if c.Target != "" {
			key = s.keys[shard].index
		}
		all = append(all, key)
	}
	args := []string{number(int64(c.Limit)), c.Target}
	if !s.cluster() {
		return []*command{run(s.scripts.peek, all, args)}
	}
	commands := make([]*command, len(all))
	for i := range all {
		commands[i] = run(s.scripts.peek, all[i:i+1], args)
	}
	return commands
}

// cluster tells whether the shards are spread over servers.
func (s *Store) cluster() bool {
	_, is := s.client.(*redis.ClusterClient)
	return is
}

// take hands over what was seen, unless somebody else has it by now. What one
// shard has handed over counts, even if another one failed.
func (s *Store) take(ctx context.Context, c driver.Claim, seen []place, claimed *driver.Claimed) error {
	commands := s.takes(c, seen)
	if err := s.many.send(ctx, commands...); err != nil {
		return err
	}
	taken := make(map[string]*driver.Record, len(seen))
	var failed error
	for _, cmd := range commands {
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
	if len(claimed.Records) > 0 {
		return nil
	}
	return failed
}

// takes are the commands that take what was seen, one per shard.
func (s *Store) takes(c driver.Claim, seen []place) []*command {
	var ids [driver.Shards][]string
	for _, p := range seen {
		shard := driver.Shard(p.id)
		ids[shard] = append(ids[shard], p.id)
	}
	var commands []*command
	for shard := range ids {
		if len(ids[shard]) == 0 {
			continue
		}
		args := append([]string{c.Owner, number(c.Lease.Microseconds()), c.Target}, ids[shard]...)
		commands = append(commands, run(s.scripts.take, s.keys[shard].of(ids[shard]), args))
	}
	return commands
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
