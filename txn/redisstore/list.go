package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// defaultLimit bounds an answer when the query does not.
	defaultLimit = 100
	// lookAt is how many records of a shard one script looks at.
	lookAt = 1000
	// skew is by how much a record's creation may seem later than its end,
	// because their times are of two computers.
	skew = 10 * time.Second
	// readsAtOnce is how many records are read in one round trip.
	readsAtOnce = 100
)

// List implements [driver.Store]. It merges what the shards find, a little of
// each at a time, and then reads the records. For those that were removed in between it
// goes on, since an answer that is not full is the last.
func (s *Store) List(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	q.Limit = cmp.Or(q.Limit, defaultLimit)
	strands := s.strands(&q)
	var recs []*driver.Record
	for len(recs) < q.Limit {
		ids, err := s.find(ctx, strands, min(q.Limit-len(recs), readsAtOnce))
		if err == nil && len(ids) == 0 {
			break
		}
		if err == nil {
			recs, err = s.readAll(ctx, recs, ids, q.Brief)
		}
		if err != nil {
			return nil, describe("list", "transactions", err)
		}
	}
	return recs, nil
}

// readAll reads records. One that was deleted since it was found is left out.
func (s *Store) readAll(
	ctx context.Context, recs []*driver.Record, ids []string, brief bool,
) ([]*driver.Record, error) {
	calls := make([]redisconn.Call, len(ids))
	for i, id := range ids {
		calls[i] = s.read(id, brief)
	}
	results, err := s.many.run(ctx, calls...)
	if err != nil {
		return nil, err
	}
	for i, result := range results {
		rec, err := readRecord(ids[i], result)
		switch {
		case err == nil:
			recs = append(recs, rec)
		case !errors.Is(err, driver.ErrNotFound):
			return nil, err
		}
	}
	return recs, nil
}

// find returns the next IDs of what the strands search for, in order.
func (s *Store) find(ctx context.Context, strands []*strand, most int) ([]string, error) {
	var ids []string
	for len(ids) < most {
		if err := s.feed(ctx, strands); err != nil {
			return nil, err
		}
		newest := slices.MaxFunc(strands, (*strand).compare)
		if len(newest.places) == 0 {
			break
		}
		_, id, _ := strings.Cut(newest.places[0], "\x00")
		ids = append(ids, id)
		newest.places = newest.places[1:]
	}
	return ids, nil
}

// strand is what one shard has found and is still to be merged.
type strand struct {
	shard  int
	query  search
	places []string // creation time, NUL, ID; newest first
	ended  bool
}

// compare orders strands by the newest record they offer.
func (t *strand) compare(u *strand) int {
	if len(t.places) == 0 || len(u.places) == 0 {
		return cmp.Compare(len(t.places), len(u.places))
	}
	return strings.Compare(t.places[0], u.places[0])
}

// search is a query in the words of the script.
type search struct {
	Records  string          `json:"records"`
	Kinds    []string        `json:"kinds"`
	Before   string          `json:"before"`
	Limit    int             `json:"limit"`
	Budget   int             `json:"budget"`
	Statuses []driver.Status `json:"statuses,omitempty"`
	Modes    []string        `json:"modes,omitempty"`
	Name     string          `json:"name,omitempty"`
	Prefix   string          `json:"prefix,omitempty"`
	Finished string          `json:"finished,omitempty"`
}

// strands begins one search per shard, each for a little more than its share.
func (s *Store) strands(q *driver.Query) []*strand {
	all := make([]*strand, len(s.keys))
	for shard := range all {
		t := &strand{shard: shard, query: searchFor(q)}
		t.query.Records = s.keys[shard].records
		all[shard] = t
	}
	return all
}

func searchFor(q *driver.Query) search {
	sr := search{
		Limit: min(q.Limit, q.Limit/(driver.Shards/2)+2), Budget: lookAt,
		Modes: q.Modes, Name: q.Name, Prefix: q.Prefix,
	}
	if q.Before != (driver.Cursor{}) {
		sr.Before = stamp(q.Before.Created) + "\x00" + q.Before.ID
	}
	if !q.FinishedBefore.IsZero() {
		sr.Finished = stamp(q.FinishedBefore)
		if latest := stamp(q.FinishedBefore.Add(skew)) + "\x00"; sr.Before == "" || latest < sr.Before {
			sr.Before = latest
		}
	}
	sr.Kinds, sr.Statuses = kindsFor(q)
	return sr
}

// kindsFor are the parts of the index where a query finds its records, and the
// statuses that it must then tell apart.
func kindsFor(q *driver.Query) (kinds []string, tell []driver.Status) {
	if q.Parked {
		return []string{"parked"}, q.Status
	}
	kinds = []string{} // not null in JSON
	for _, status := range driver.Statuses() {
		wanted := len(q.Status) == 0 || slices.Contains(q.Status, status)
		if wanted && (q.FinishedBefore.IsZero() || status.Final()) {
			kinds = append(kinds, string(status))
		}
	}
	return kinds, nil
}

// feed asks the shards whose places have all been merged for more.
func (s *Store) feed(ctx context.Context, strands []*strand) error {
	for {
		hungry := slices.DeleteFunc(slices.Clone(strands), func(t *strand) bool { return t.ended || len(t.places) > 0 })
		if len(hungry) == 0 {
			return nil
		}
		if err := s.search(ctx, hungry); err != nil {
			return err
		}
	}
}

// search runs the script once for each strand.
func (s *Store) search(ctx context.Context, strands []*strand) error {
	calls := make([]redisconn.Call, len(strands))
	for i, t := range strands {
		query, err := json.Marshal(t.query)
		if err != nil {
			return err
		}
		keys := []string{s.keys[t.shard].index}
		calls[i] = redisconn.Call{Script: s.scripts.list, Keys: keys, Args: []string{string(query)}}
	}
	results, err := s.many.run(ctx, calls...)
	if err != nil {
		return err
	}
	for i, result := range results {
		if err := strands[i].enterFound(result); err != nil {
			return err
		}
	}
	return nil
}

// enterFound reads what a search has found, and where it goes on.
func (t *strand) enterFound(result redisconn.Result) error {
	values, err := listOf(result, 3)
	if err != nil {
		return err
	}
	t.ended = values.At(0).Int == 1
	t.query.Before, t.places = values.At(1).Str, textsOf(values.At(2))
	return nil
}
