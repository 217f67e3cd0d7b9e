package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// deletesAtOnce bounds how long one script keeps the server busy.
const deletesAtOnce = 100

// Delete implements [driver.Store]. After an error some may be gone.
func (s *Store) Delete(ctx context.Context, refs []driver.Ref) (int, error) {
	results, err := s.many.run(ctx, s.deletes(refs)...)
	if err != nil {
		return 0, describe("delete", fmt.Sprintf("%d records", len(refs)), err)
	}
	gone := 0
	var failed error
	for _, result := range results {
		gone += int(result.Reply.Int)
		failed = cmp.Or(failed, result.Err)
	}
	if failed != nil {
		return gone, describe("delete", fmt.Sprintf("%d records", len(refs)), failed)
	}
	return gone, nil
}

// deletes are the calls that delete, one or more per shard.
func (s *Store) deletes(refs []driver.Ref) []redisconn.Call {
	var byShard [driver.Shards][]driver.Ref
	for _, ref := range refs {
		shard := driver.Shard(ref.ID)
		byShard[shard] = append(byShard[shard], ref)
	}
	var calls []redisconn.Call
	for shard, own := range byShard {
		for some := range slices.Chunk(own, deletesAtOnce) {
			calls = append(calls, s.delete(shard, some))
		}
	}
	return calls
}

func (s *Store) delete(shard int, refs []driver.Ref) redisconn.Call {
	var ids, args []string
	for _, ref := range refs {
		ids = append(ids, ref.ID)
		args = append(args, ref.ID, number(ref.Revision), number(ref.Epoch), created(ref.Version))
	}
	return redisconn.Call{Script: s.scripts.remove, Keys: s.keys[shard].of(ids), Args: args}
}
