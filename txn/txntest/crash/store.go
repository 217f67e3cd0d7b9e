package crash

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

var (
	errInjected = errors.New("injected: the store does not answer")
	errDead     = errors.New("this coordinator is dead")
)

// brokenStore is the store as the first coordinator sees it.
type brokenStore struct {
	driver.Store
	faults *injector
	stall  time.Duration
	late   *latecomers
}

// do makes one call with what the injector has for it. The call is made at most
// once.
func (s *brokenStore) do(kind string, call func() error) error {
	if s.faults.isDead() {
		return errDead
	}
	switch s.faults.next(kind) {
	case FailBefore:
		return errInjected
	case FailAfter:
		_ = call()
		return errInjected
	case DieBefore:
		s.faults.die()
		return errDead
	case DieAfter:
		_ = call()
		s.faults.die()
		return errDead
	case Stall:
		return s.late.delay(s.stall, call)
	default:
		return call()
	}
}

func (s *brokenStore) Create(ctx context.Context, rec *driver.Record) error {
	return s.do("Create", func() error { return s.Store.Create(ctx, rec) })
}

func (s *brokenStore) Load(ctx context.Context, id string) (rec *driver.Record, err error) {
	err = s.do("Load", func() error {
		rec, err = s.Store.Load(ctx, id)
		return err
	})
	return rec, err
}

// Update works on a copy: what a lost acknowledgement would have told must not be
// known.
func (s *brokenStore) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	written := *rec
	err := s.do("Update", func() error { return s.Store.Update(ctx, was, &written) })
	if err == nil {
		rec.Revision = written.Revision
	}
	return err
}

func (s *brokenStore) Claim(ctx context.Context, c driver.Claim) (claimed driver.Claimed, err error) {
	err = s.do("Claim", func() error {
		claimed, err = s.Store.Claim(ctx, c)
		return err
	})
	if err != nil {
		claimed = driver.Claimed{}
	}
	return claimed, err
}

func (s *brokenStore) List(ctx context.Context, q driver.Query) (list []*driver.Record, err error) {
	err = s.do("List", func() error {
		list, err = s.Store.List(ctx, q)
		return err
	})
	return list, err
}

func (s *brokenStore) Delete(ctx context.Context, refs []driver.Ref) (n int, err error) {
	err = s.do("Delete", func() error {
		n, err = s.Store.Delete(ctx, refs)
		return err
	})
	return n, err
}
