package redisstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// TestARemovalEndsAList: whoever reads page after page takes one that is not full for the
// last. What is removed between being found and being read must leave no gap.
func TestARemovalEndsAList(t *testing.T) {
	server := durable(t)
	client := connect(t, server)
	s, other := open(t, client, nil), open(t, connect(t, server), nil)
	began := time.Now()
	for i := range 10 {
		created := began.Add(time.Duration(i) * time.Second)
		rec := &driver.Record{ID: fmt.Sprint("tx-", i), Status: driver.Committed, Created: created}
		rec.Finished = rec.Created
		if err := s.Create(ctxFor(t), rec); err != nil {
			t.Fatal(err)
		}
	}
	client.AddHook(beforeReads{func() {
		rec, err := other.Load(ctxFor(t), "tx-8")
		if err != nil {
			return // it was removed by an earlier read
		}
		if n, err := other.Delete(ctxFor(t), []driver.Ref{{ID: rec.ID, Version: rec.Version()}}); n != 1 || err != nil {
			t.Errorf("%d removed, %v", n, err)
		}
	}})
	recs, err := s.List(ctxFor(t), driver.Query{Limit: 5})
	if err != nil || len(recs) != 5 || recs[0].ID != "tx-9" || recs[4].ID != "tx-4" {
		t.Errorf("%d records, %v", len(recs), err)
	}
}

// beforeReads does something before records are read.
type beforeReads struct{ do func() }

func (beforeReads) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (beforeReads) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (b beforeReads) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() == "hmget" {
			b.do()
		}
		return next(ctx, cmds)
	}
}
