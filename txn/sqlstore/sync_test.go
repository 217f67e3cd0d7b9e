package sqlstore_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// syncing is a database whose commits become durable when a test lets them.
type syncing struct {
	fake

	sync chan error
}

func (s *syncing) Sync() error { return <-s.sync }

func openSyncing(t *testing.T) (*syncing, *sqlstore.Store) {
	t.Helper()
	d := &syncing{sync: make(chan error)}
	s, err := sqlstore.Open(t.Context(), d, sqlstore.Databases{}, &sqlstore.Options{Writers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

// begin creates a record in the background.
func begin(t *testing.T, s *sqlstore.Store, id string) <-chan error {
	t.Helper()
	told := make(chan error, 1)
	go func() { told <- s.Create(t.Context(), record(id)) }()
	synctest.Wait()
	return told
}

func answered(told <-chan error) bool { return len(told) > 0 }

// TestAcknowledgedAfterItSynced: a commit that a loss of power may undo is not
// reported.
func TestAcknowledgedAfterItSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := openSyncing(t)
		told := begin(t, s, "a")
		if answered(told) {
			t.Fatal("told of a commit that is not durable")
		}
		d.sync <- nil
		if err := <-told; err != nil {
			t.Error(err)
		}
		s.Close()
	})
}

// TestBatchesAreWrittenMeanwhile: the disk holds up the answers, not the writer, and
// what came too late for one flush needs another.
func TestBatchesAreWrittenMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := openSyncing(t)
		first, second, third := begin(t, s, "a"), begin(t, s, "b"), begin(t, s, "c")
		if n := len(d.seen()); n != 3 {
			t.Fatalf("%d batches were written, want 3", n)
		}
		d.sync <- nil
		synctest.Wait()
		if !answered(first) || answered(second) || answered(third) {
			t.Error("want an answer to the first batch alone: the others were written later")
		}
		d.sync <- nil // for both
		if err := errors.Join(<-first, <-second, <-third); err != nil {
			t.Error(err)
		}
		s.Close()
	})
}

// TestUnsyncedStoreWritesNoMore: what a disk failed to write it may forget, and the
// next flush would not tell.
func TestUnsyncedStoreWritesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := openSyncing(t)
		lost := errors.New("input/output error")
		told := begin(t, s, "a")
		d.sync <- lost
		if err := <-told; !errors.Is(err, lost) || errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("%v: want the disk's error, for the record may be there", err)
		}
		err := <-begin(t, s, "b")
		if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "opened again") {
			t.Errorf("%v: want the store to be unavailable until it is opened again", err)
		}
		if n := len(d.seen()); n != 1 {
			t.Errorf("%d batches were written, want 1", n)
		}
		s.Close()
	})
}

// TestCloseSyncs: what was written when the store is closed is answered.
func TestCloseSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := openSyncing(t)
		told := begin(t, s, "a")
		var closing sync.WaitGroup
		closing.Go(func() { s.Close() })
		synctest.Wait()
		if answered(told) {
			t.Error("told before it was durable")
		}
		d.sync <- nil
		closing.Wait()
		if err := <-told; err != nil {
			t.Error(err)
		}
	})
}

// TestCommitWithoutAnswerSyncs: it may be there, so nobody may read it before it
// is durable, either.
func TestCommitWithoutAnswerSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := openSyncing(t)
		lost := errors.New("no answer")
		d.write = func(context.Context, []string) ([]string, error) { return nil, lost }
		told := begin(t, s, "a")
		if answered(told) {
			t.Error("told while the commit may be there, and is not durable")
		}
		d.sync <- nil
		if err := <-told; !errors.Is(err, lost) {
			t.Errorf("%v, want %v", err, lost)
		}
		s.Close()
	})
}

// TestRefusedBatchNeedsNoDisk: what was rolled back has nothing to sync.
func TestRefusedBatchNeedsNoDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := openSyncing(t)
		bad := errors.New("no such column")
		d.write = func(context.Context, []string) ([]string, error) { return nil, sqlstore.Unwritten(bad) }
		if err := <-begin(t, s, "a"); !errors.Is(err, bad) {
			t.Errorf("%v, want %v", err, bad)
		}
		s.Close()
	})
}
