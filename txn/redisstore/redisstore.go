package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Store keeps transactions on one Redis.
type Store struct {
	scripts     scripts
	keys        [driver.Shards]keys
	persistence string

	// single carries writes, many what goes through all transactions: a long
	// list must not hold up a write.
	single  *lanes
	many    *batcher
	closing sync.Once
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a store on the Redis behind client, whose settings it examines
// first: see [Options.AllowVolatile]. The client stays the caller's: Close leaves
// it open.
//
// Keep its read time-out finite, as it is by default: it ends the calls to a
// server that has vanished.
func New(ctx context.Context, client redis.UniversalClient, opts *Options) (*Store, error) {
	filled, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := checkClient(client); err != nil {
		return nil, err
	}
	persistence, err := examine(ctx, client, filled.AllowVolatile)
	if err != nil {
		return nil, err
	}
	s := &Store{scripts: newScripts(), keys: keysOf(filled.Prefix), persistence: persistence}
	s.single, err = newLanes(ctx, client, &s.keys)
	if err != nil {
		s.single.close()
		return nil, describe("find", "the nodes", err)
	}
	s.many = newBatcher(client)
	return s, nil
}

// Persistence tells in a few words what the server keeps on disk, such as
// "appendonly, fsync everysec".
func (s *Store) Persistence() string { return s.persistence }

// Create implements [driver.Store].
func (s *Store) Create(ctx context.Context, rec *driver.Record) error {
	if err := rec.Check(); err != nil {
		return describe("create", rec.ID, err)
	}
	values := append(append(make([]string, 0, 17), rec.ID), origin(rec)...)
	values = append(progress(values, rec, 1), string(rec.Spec))
	if err := s.write(ctx, s.scripts.create, values, driver.ErrExists); err != nil {
		return describe("create", rec.ID, err)
	}
	rec.Revision = 1
	return nil
}

// Update implements [driver.Store].
func (s *Store) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	if err := rec.Check(); err != nil {
		return describe("update", rec.ID, err)
	}
	values := append(make([]string, 0, 16), rec.ID, number(was.Revision), number(was.Epoch), created(was))
	values = progress(values, rec, was.Revision+1)
	if rec.Spec != nil {
		values = append(values, string(rec.Spec))
	}
	if err := s.write(ctx, s.scripts.update, values, driver.ErrStale); err != nil {
		return describe("update", rec.ID, err)
	}
	rec.Revision = was.Revision + 1
	return nil
}

// write runs a script that writes one record. It answers 0 to refuse.
func (s *Store) write(ctx context.Context, script *script, values []string, refusal error) error {
	keys := s.keysFor(values[0])
	c := run(script, []string{keys.records + values[0], keys.index, keys.queue}, values)
	if err := s.single.send(ctx, values[0], c); err != nil {
		return err
	}
	done, err := c.Int()
	if err == nil && done == 0 {
		return refusal
	}
	return err
}

// Load implements [driver.Store].
func (s *Store) Load(ctx context.Context, id string) (*driver.Record, error) {
	c := s.read(id, false)
	if err := s.single.send(ctx, id, c); err != nil {
		return nil, describe("load", id, err)
	}
	rec, err := c.record(id)
	if err != nil {
		return nil, describe("load", id, err)
	}
	return rec, nil
}

// read makes a command that reads a record.
func (s *Store) read(id string, brief bool) *command {
	names := fieldNames()
	if brief {
		names = names[:len(names)-blobs]
	}
	args := append(make([]any, 0, 2+len(names)), "hmget", s.keysFor(id).records+id)
	for i := range names {
		args = append(args, &names[i])
	}
	return do(args...)
}

// record makes a record of what was read.
func (c *command) record(id string) (*driver.Record, error) {
	values, err := c.Slice()
	if err != nil {
		return nil, err
	}
	if len(values) > 0 && values[0] == nil {
		return nil, driver.ErrNotFound
	}
	return parse(id, texts(values))
}

// texts are the strings among values; what is missing is empty.
func texts(values []any) []string {
	all := make([]string, len(values))
	for i, value := range values {
		all[i], _ = value.(string)
	}
	return all
}

// Close implements [driver.Store].
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.single.close()
		s.many.close()
	})
	return nil
}

// errAnswer says that a script answered something else than it should.
var errAnswer = errors.New("the script's answer has the wrong form")

// list reads the answer of a script that is a list of at least n items.
func (c *command) list(n int) ([]any, error) {
	values, err := c.Slice()
	if err == nil && len(values) < n {
		err = fmt.Errorf("%w: %d items", errAnswer, len(values))
	}
	return values, err
}
