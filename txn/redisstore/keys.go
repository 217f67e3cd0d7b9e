package redisstore

import (
	"strconv"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// keys are those of one shard.
type keys struct {
	records string // what the key of a record begins with
	queue   string
	index   string
}

func keysOf(prefix string) [driver.Shards]keys {
	var all [driver.Shards]keys
	for shard := range all {
		base := prefix + "{" + strconv.Itoa(shard) + "}:"
		all[shard] = keys{records: base + "tx:", queue: base + "queue", index: base + "index"}
	}
	return all
}

// keysFor are those of the shard that an ID belongs to.
func (s *Store) keysFor(id string) *keys { return &s.keys[driver.Shard(id)] }

// of are the keys of a script that is about several records of the shard.
func (k *keys) of(ids []string) []string {
	all := append(make([]string, 0, 2+len(ids)), k.index, k.queue)
	for _, id := range ids {
		all = append(all, k.records+id)
	}
	return all
}
