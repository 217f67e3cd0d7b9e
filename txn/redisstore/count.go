package redisstore

import (
	"context"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Count implements [driver.Counter].
func (s *Store) Count(ctx context.Context) (driver.Counts, error) {
	all := driver.Statuses()
	commands := make([]*command, len(s.keys))
	for shard := range s.keys {
		commands[shard] = run(s.scripts.count, []string{s.keys[shard].index, s.keys[shard].queue}, words(all))
	}
	total := driver.Counts{ByStatus: make(map[driver.Status]int)}
	err := s.many.send(ctx, commands...)
	for i := 0; err == nil && i < len(commands); i++ {
		err = addCounts(&total, all, commands[i])
	}
	if err != nil {
		return driver.Counts{}, describe("count", "transactions", err)
	}
	return total, nil
}

func addCounts(total *driver.Counts, all []driver.Status, c *command) error {
	values, err := c.list(3 + len(all))
	if err != nil {
		return err
	}
	total.Parked += count(values[0])
	total.Due += count(values[1])
	text, _ := values[2].(string)
	oldest, err := parseStamp(text)
	if !oldest.IsZero() && (total.Oldest.IsZero() || oldest.Before(total.Oldest)) {
		total.Oldest = oldest
	}
	for i, status := range all {
		total.ByStatus[status] += count(values[3+i])
	}
	return err
}

func count(value any) int {
	n, _ := value.(int64)
	return int(n)
}

func words(all []driver.Status) []string {
	texts := make([]string, len(all))
	for i, status := range all {
		texts[i] = string(status)
	}
	return texts
}
