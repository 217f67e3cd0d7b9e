package redisstore

import (
	"context"
	"fmt"
	"sync"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Store keeps transactions on one Redis.
type Store struct {
	scripts     scripts
	keys        [driver.Shards]keys
	persistence string

	// single carries writes, many carries what goes through all transactions: a long list
	// must not hold up a write.
	single  *lanes
	many    *batcher
	closing sync.Once
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a store on the Redis behind conn, whose settings it examines
// first: see [Options.AllowVolatile]. The client wrapped in conn stays the caller's:
// Close leaves it open.
func New(ctx context.Context, conn redisconn.Conn, opts *Options) (*Store, error) {
	filled, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := redisconn.CheckKeeps(conn); err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	persistence, err := examine(ctx, conn, filled.AllowVolatile)
	if err != nil {
		return nil, err
	}
	s := &Store{scripts: newScripts(), keys: keysOf(filled.Prefix), persistence: persistence}
	s.single, err = newLanes(ctx, conn, &s.keys)
	if err != nil {
		s.single.close()
		return nil, describe("find", "the nodes", err)
	}
	s.many = newBatcher(conn)
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
	values := append(append(make([]string, 0, 17), rec.ID), unchangingValues(rec)...)
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

// write runs a script that writes one record. The script answers 0 if it refuses.
func (s *Store) write(ctx context.Context, script *redisconn.Script, values []string, refusal error) error {
	keys := s.keysFor(values[0])
	call := redisconn.Call{
		Script: script, Keys: []string{keys.records + values[0], keys.index, keys.queue}, Args: values,
	}
	result := s.single.run(ctx, values[0], call)
	if result.Err == nil && result.Reply.Int == 0 {
		return refusal
	}
	return result.Err
}

// Load implements [driver.Store].
func (s *Store) Load(ctx context.Context, id string) (*driver.Record, error) {
	rec, err := readRecord(id, s.single.run(ctx, id, s.read(id, false)))
	if err != nil {
		return nil, describe("load", id, err)
	}
	return rec, nil
}

// read makes a call that reads a record.
func (s *Store) read(id string, brief bool) redisconn.Call {
	names := fieldNames()
	if brief {
		names = names[:len(names)-blobs]
	}
	return redisconn.Call{Command: "hmget", Keys: []string{s.keysFor(id).records + id}, Args: names}
}

// Close implements [driver.Store].
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.single.close()
		s.many.close()
	})
	return nil
}
