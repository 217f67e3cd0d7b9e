package redisstore

import (
	"context"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Count implements [driver.Counter].
func (s *Store) Count(ctx context.Context) (driver.Counts, error) {
	all := driver.Statuses()
	calls := make([]redisconn.Call, len(s.keys))
	for shard := range s.keys {
		keys := []string{s.keys[shard].index, s.keys[shard].queue}
		calls[shard] = redisconn.Call{Script: s.scripts.count, Keys: keys, Args: statusNames(all)}
	}
	total := driver.Counts{ByStatus: make(map[driver.Status]int)}
	results, err := s.many.run(ctx, calls...)
	for i := 0; err == nil && i < len(results); i++ {
		err = addCounts(&total, all, results[i])
	}
	if err != nil {
		return driver.Counts{}, describe("count", "transactions", err)
	}
	return total, nil
}

func addCounts(total *driver.Counts, all []driver.Status, result redisconn.Result) error {
	values, err := listOf(result, 3+len(all))
	if err != nil {
		return err
	}
	total.Parked += int(values.At(0).Int)
	total.Due += int(values.At(1).Int)
	oldest, err := parseStamp(values.At(2).Str)
	if !oldest.IsZero() && (total.Oldest.IsZero() || oldest.Before(total.Oldest)) {
		total.Oldest = oldest
	}
	for i, status := range all {
		total.ByStatus[status] += int(values.At(3 + i).Int)
	}
	return err
}

func statusNames(all []driver.Status) []string {
	names := make([]string, len(all))
	for i, status := range all {
		names[i] = string(status)
	}
	return names
}
