package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// deletesAtOnce bounds how long one script keeps the server busy.
const deletesAtOnce = 100

// Delete implements [driver.Store]. After an error some may be gone.
func (s *Store) Delete(ctx context.Context, refs []driver.Ref) (int, error) {
	commands := s.deletes(refs)
	if err := s.many.send(ctx, commands...); err != nil {
		return 0, describe("delete", fmt.Sprintf("%d records", len(refs)), err)
	}
	gone := 0
	var failed error
	for _, c := range commands {
		n, err := c.Int()
		gone += n
		failed = cmp.Or(failed, err)
	}
	if failed != nil {
		return gone, describe("delete", fmt.Sprintf("%d records", len(refs)), failed)
	}
	return gone, nil
}

// deletes are the commands that delete, one or more per shard.
func (s *Store) deletes(refs []driver.Ref) []*command {
	var byShard [driver.Shards][]driver.Ref
	for _, ref := range refs {
		shard := driver.Shard(ref.ID)
		byShard[shard] = append(byShard[shard], ref)
	}
	var commands []*command
	for shard, own := range byShard {
		for some := range slices.Chunk(own, deletesAtOnce) {
			commands = append(commands, s.delete(shard, some))
		}
	}
	return commands
}

func (s *Store) delete(shard int, refs []driver.Ref) *command {
	var ids, args []string
	for _, ref := range refs {
		ids = append(ids, ref.ID)
		args = append(args, ref.ID, number(ref.Revision), number(ref.Epoch), created(ref.Version))
	}
	return run(s.scripts.remove, s.keys[shard].of(ids), args)
}
