package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// queueLength is how many operations wait at a writer before callers wait to
	// queue. It bounds what a database that hangs costs in memory.
	queueLength = 1024
	// batchRows and batchBytes bound a batch. One record may be larger.
	batchRows  = 256
	batchBytes = 1 << 20
)

// writer writes the records of some shards, one batch after another, so that
// writes of one record stay in order.
type writer struct {
	store   *Store
	queue   chan *op
	held    *op            // taken from the queue, but not fit for the batch before
	loose   sync.WaitGroup // batches that were committed and not answered
	stopped chan struct{}
}

func (s *Store) startWriters() {
	for range s.opts.Writers {
		w := &writer{store: s, queue: make(chan *op, queueLength), stopped: make(chan struct{})}
		s.writers = append(s.writers, w)
		go w.run()
	}
}

// enqueue hands an operation over, which is then answered for certain. It waits while the
// queue is full. All callers contend for the channels of the store's life, so looking at
// them is dear, and left to those that have to wait anyway.
func (w *writer) enqueue(ctx context.Context, o *op) error {
	select {
	case w.queue <- o:
	default:
		select {
		case w.queue <- o:
		case <-ctx.Done():
			return Unwritten(ctx.Err())
		case <-w.store.life.Done():
			return driver.ErrClosed
		}
	}
	if w.store.life.Err() != nil { // perhaps too late for the writer to see it
		select {
		case <-w.stopped:
			w.refuseQueued()
		case <-ctx.Done():
		}
	}
	return nil
}

// refuseQueued answers the operations that are queued and will not be written.
func (w *writer) refuseQueued() {
	for {
		select {
		case o := <-w.queue:
			o.tellOutcome(driver.ErrClosed)
		default:
			return
		}
	}
}

// run ends with the store.
func (w *writer) run() {
	defer close(w.stopped)
	defer w.loose.Wait()
	defer w.refuseQueued()
	for {
		first := w.nextOp()
		if first == nil {
			return
		}
		if ops := w.gather(first); len(ops) > 0 {
			w.write(ops)
		}
	}
}

// nextOp returns the next operation, or nil at the end.
func (w *writer) nextOp() *op {
	if o := w.held; o != nil {
		w.held = nil
		return o
	}
	select {
	case o := <-w.queue:
		// Those answered just now are about to queue again; one turn of theirs makes a
		// batch of what would otherwise be a single row and a batch behind it.
		runtime.Gosched()
		return o
	case <-w.store.life.Done():
		return nil
	}
}

// gather takes what is queued, as long as it fits into one batch.
func (w *writer) gather(o *op) []*op {
	var ops []*op
	size, ids := 0, make(map[string]struct{})
	for {
		if _, twice := ids[o.rec.ID]; twice || len(ops) > 0 && size+o.size() > batchBytes {
			w.held = o
			return ops
		}
		if o.takeUnlessLeft() {
			ops, size = append(ops, o), size+o.size()
			ids[o.rec.ID] = struct{}{}
		}
		if len(ops) == batchRows {
			return ops
		}
		select {
		case o = <-w.queue:
		default:
			return ops
		}
	}
}

func (o *op) size() int { return len(o.rec.Spec) + len(o.rec.State) }

// write writes a batch in the order of the IDs, in which other batches lock the
// same rows, if any.
func (w *writer) write(ops []*op) {
	slices.SortFunc(ops, func(a, b *op) int { return strings.Compare(a.rec.ID, b.rec.ID) })
	w.writeOrHalve(ops)
}

// writeOrHalve writes a batch and has it answered. A batch that fails as a whole is halved
// until the record that is to blame stands alone.
func (w *writer) writeOrHalve(ops []*op) {
	syncer := w.store.syncer
	if err := syncer.announceCommit(); err != nil {
		tellOutcomes(ops, nil, err)
		return
	}
	refused, err := w.apply(ops)
	if !isUnwritten(err) {
		w.loose.Add(1)
		syncer.whenCommitSynced(func(failed error) {
			tellOutcomes(ops, refused, cmp.Or(err, failed))
			w.loose.Done()
		})
		return
	}
	err = syncer.withdrawCommit(err)
	if len(ops) > 1 && w.store.verdictOn(err) != Broken && w.store.life.Err() == nil {
		half := len(ops) / 2
		w.writeOrHalve(ops[:half])
		w.writeOrHalve(ops[half:])
		return
	}
	tellOutcomes(ops, refused, err)
}

func tellOutcomes(ops []*op, refused []string, err error) {
	for _, o := range ops {
		o.tellOutcome(o.outcome(refused, err))
	}
}

func (o *op) outcome(refused []string, err error) error {
	switch {
	case err != nil:
		return err
	case !slices.Contains(refused, o.rec.ID):
		return nil
	case o.create:
		return driver.ErrExists
	default:
		return driver.ErrStale
	}
}

// apply writes a batch, and repeats that if others were in its way.
func (w *writer) apply(ops []*op) (refused []string, err error) {
	s := w.store
	ctx := s.life
	if s.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.opts.Timeout)
		defer cancel()
	}
	b := batchOf(ops)
	err = s.repeat(ctx, func() error {
		refused, err = s.dialect.Write(ctx, s.opts.Table, b)
		return err
	})
	if err != nil && ctx.Err() != nil && s.life.Err() == nil {
		err = fmt.Errorf("batch of %d not written within %v: %w", len(ops), s.opts.Timeout, err)
	}
	return refused, err
}

func batchOf(ops []*op) Batch {
	var b Batch
	for _, o := range ops {
		if o.create {
			b.Creates = append(b.Creates, o.rec)
		} else {
			b.Updates = append(b.Updates, Update{Was: o.was, Record: o.rec})
		}
	}
	return b
}
