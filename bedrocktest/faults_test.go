package bedrocktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

func record(id string) *driver.Record { return &driver.Record{ID: id, Status: driver.Open} }

// TestSwitchDoesNothing turns every switch of a store; those of a backend are the same.
func TestSwitchDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bedrocktest.NewStore(memstore.New(nil))
		create := func(id string) error { return s.Create(t.Context(), record(id)) }
		broken := errors.New("broken")
		struck := 0
		s.FailCall(bedrocktest.Create, 2, bedrocktest.Fault{Before: broken, Hit: func() { struck++ }})
		wantErr(t, create("a"), nil)
		wantErr(t, create("b"), broken)
		wantMissing(t, s, "b")
		if struck != 1 {
			t.Errorf("the fault has struck %d times", struck)
		}

		s.LoseReply(bedrocktest.Create)
		rec := record("c")
		wantErr(t, s.Create(t.Context(), rec), bedrocktest.ErrReplyLost)
		wantErr(t, create("c"), driver.ErrExists)
		if rec.Revision != 0 {
			t.Error("what the lost reply would have told is known")
		}

		s.Down()
		wantErr(t, create("d"), driver.ErrUnavailable)
		_, err := s.Claim(t.Context(), driver.Claim{})
		wantErr(t, err, driver.ErrUnavailable)
		s.Up()
		wantMissing(t, s, "d")

		s.Lag(time.Second)
		began := time.Now()
		wantErr(t, create("e"), nil)
		if took := time.Since(began); took != time.Second {
			t.Errorf("a lag of a second took %s", took)
		}
		s.Lag(0)
		if n, all := s.Calls(bedrocktest.Create), s.AllCalls(); n != 6 || all != 9 {
			t.Errorf("%d of %d calls, want 6 of 9", n, all)
		}
	})
}

// TestFrozenWriteReadsItsCallersMemory: it arrives after its caller has gone on.
func TestFrozenWriteReadsItsCallersMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bedrocktest.NewStore(memstore.New(nil))
		s.Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		rec := record("a")
		rec.Name = "as it was sent"
		wantErr(t, s.Create(ctx, rec), context.DeadlineExceeded)
		rec.Name = "changed"
		s.Thaw()
		synctest.Wait()
		stored, err := s.Load(t.Context(), "a")
		if err != nil || stored.Name != "as it was sent" || rec.Revision != 0 {
			t.Errorf("%+v, %v; its caller has revision %d", stored, err, rec.Revision)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestStoreCanMoreThanItsInner: what is optional is refused where it is missing.
func TestStoreCanMoreThanItsInner(t *testing.T) {
	s := bedrocktest.NewStore(struct{ driver.Store }{memstore.New(nil)})
	_, err := s.Count(t.Context())
	wantErr(t, err, errors.ErrUnsupported)
	_, _, err = s.Migrate(t.Context())
	wantErr(t, err, errors.ErrUnsupported)
	wantErr(t, s.CreateTx(t.Context(), nil, record("a")), errors.ErrUnsupported)
	wantErr(t, bedrocktest.NewStore(memstore.New(nil)).CreateTx(t.Context(), nil, record("a")), errors.ErrUnsupported)
}

// TestBackendCanMoreThanItsInner: the same.
func TestBackendCanMoreThanItsInner(t *testing.T) {
	b := bedrocktest.NewBackend(struct{ lockdriver.Backend }{memlock.NewBackend(nil)})
	_, err := b.Watch(t.Context(), "a", lockdriver.Mutex)
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.Inspect(t.Context(), "a")
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.List(t.Context(), "", 1)
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.ForceRelease(t.Context(), "a")
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.Check(t.Context())
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.Identity(t.Context())
	wantErr(t, err, lockdriver.ErrUnsupported)
	if b.Together([]string{"a"}) {
		t.Error("what is refused is said to be possible")
	}
	_, err = b.AcquireAll(t.Context(), []lockdriver.Request{request("a:1")})
	wantErr(t, err, lockdriver.ErrUnsupported)
	wantErr(t, b.Annotate(t.Context(), lockdriver.Grant{Name: "a", Owner: "a:1"}, ""), lockdriver.ErrUnsupported)
	_, err = b.SetLatch(t.Context(), "a", "id", 1)
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.CountDown(t.Context(), "a", "id", 1)
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.LatchCount(t.Context(), "a")
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.DropLatch(t.Context(), "a")
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.Plead(t.Context(), "a", lockdriver.Plea{})
	wantErr(t, err, lockdriver.ErrUnsupported)
	_, err = b.Attend(t.Context(), "a", func(lockdriver.Message) {})
	wantErr(t, err, lockdriver.ErrUnsupported)
	complains(t, []string{`"a"`, "unsupported"}, func(t testing.TB) { b.TakeAway(t, "a") })
}

// TestFaultsOfWhatTheInnerLacks: what is refused reaches no fault, which would never strike.
func TestFaultsOfWhatTheInnerLacks(t *testing.T) {
	s := bedrocktest.NewStore(memstore.New(nil))
	panics(t, "the one inside has no method CreateTx", func() { s.LoseReply(bedrocktest.CreateTx) })
	s.LoseReply(bedrocktest.Count)
	_, err := s.Count(t.Context())
	wantErr(t, err, bedrocktest.ErrReplyLost)
	s = bedrocktest.NewStore(struct{ driver.Store }{memstore.New(nil)})
	panics(t, "the one inside has no method Count", func() { s.Calls(bedrocktest.Count) })
	b := bedrocktest.NewBackend(struct{ lockdriver.Backend }{memlock.NewBackend(nil)})
	for _, m := range []bedrocktest.Method{
		bedrocktest.Watch, bedrocktest.Inspect, bedrocktest.List, bedrocktest.ForceRelease, bedrocktest.Check,
		bedrocktest.Identity, bedrocktest.AcquireAll, bedrocktest.Annotate, bedrocktest.SetLatch,
		bedrocktest.CountDown, bedrocktest.LatchCount, bedrocktest.DropLatch, bedrocktest.Plead,
	} {
		panics(t, "the one inside has no method "+string(m), func() { b.Fail(m, bedrocktest.Fault{}) })
	}
	panics(t, "want one of Acquire, Renew, Release", func() { b.LoseReply("Releas") })
	b.LoseReply(bedrocktest.Release)
}

// TestSomebodyElseIsNobody: a lock that somebody else holds is held, and one that was
// taken away is not.
func TestSomebodyElseIsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bedrocktest.NewBackend(memlock.NewBackend(nil))
		_, err := b.Acquire(t.Context(), request("a:1"))
		wantErr(t, err, nil)
		complains(t, []string{`hold "a"`, "held by a:1"}, func(t testing.TB) { b.Hold(t, "a") })
		b.TakeAway(t, "a")
		complains(t, []string{`"a"`, "nobody has it"}, func(t testing.TB) { b.TakeAway(t, "a") })
		for range 2 {
			release := b.Hold(t, "a")
			_, err = b.Acquire(t.Context(), request("a:2"))
			wantErr(t, err, lockdriver.ErrHeld)
			release()
			release()
		}
		_, err = b.Acquire(t.Context(), request("a:3"))
		wantErr(t, err, nil)
	})
}

// TestSomebodyElseIsGoneSoonerThanTold: it is said how long a lock is held at most.
func TestSomebodyElseIsGoneSoonerThanTold(t *testing.T) {
	clock := bedrocktest.NewClock()
	b := bedrocktest.NewBackend(memlock.NewBackend(clock.LockStore()))
	b.Hold(t, "a")
	clock.Advance(lockdriver.MaxTTL - time.Minute)
	_, err := b.Acquire(t.Context(), request("a:1"))
	wantErr(t, err, lockdriver.ErrHeld)
	clock.Advance(time.Minute)
	_, err = b.Acquire(t.Context(), request("a:1"))
	wantErr(t, err, nil)
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func wantMissing(t *testing.T, s *bedrocktest.Store, id string) {
	t.Helper()
	_, err := s.Load(t.Context(), id)
	wantErr(t, err, driver.ErrNotFound)
}

// TestCallGetsPastASwitch: whatever reaches a backend fails while that is down, and counts.
func TestCallGetsPastASwitch(t *testing.T) {
	b := bedrocktest.NewBackend(memlock.NewBackend(nil))
	b.Down()
	ask := map[bedrocktest.Method]func(ctx context.Context) error{
		bedrocktest.Acquire: func(ctx context.Context) error {
			_, err := b.Acquire(ctx, lockdriver.Request{Name: "a", Owner: "o", TTL: time.Second})
			return err
		},
		bedrocktest.Renew: func(ctx context.Context) error {
			return b.Renew(ctx, []lockdriver.Grant{{Name: "a", Owner: "o", TTL: time.Second}})[0]
		},
		bedrocktest.Release: func(ctx context.Context) error {
			_, err := b.Release(ctx, lockdriver.Grant{Name: "a", Owner: "o"})
			return err
		},
		bedrocktest.Watch: func(ctx context.Context) error {
			_, err := b.Watch(ctx, "a", lockdriver.Mutex)
			return err
		},
		bedrocktest.Inspect:      func(ctx context.Context) error { _, err := b.Inspect(ctx, "a"); return err },
		bedrocktest.List:         func(ctx context.Context) error { _, err := b.List(ctx, "", 1); return err },
		bedrocktest.ForceRelease: func(ctx context.Context) error { _, err := b.ForceRelease(ctx, "a"); return err },
		bedrocktest.Check:        func(ctx context.Context) error { _, err := b.Check(ctx); return err },
		bedrocktest.Identity:     func(ctx context.Context) error { _, err := b.Identity(ctx); return err },
		bedrocktest.AcquireAll: func(ctx context.Context) error {
			_, err := b.AcquireAll(ctx, []lockdriver.Request{request("o")})
			return err
		},
		bedrocktest.Annotate: func(ctx context.Context) error {
			return b.Annotate(ctx, lockdriver.Grant{Name: "a", Owner: "o"}, "")
		},
		bedrocktest.SetLatch:   func(ctx context.Context) error { _, err := b.SetLatch(ctx, "l", "1", 2); return err },
		bedrocktest.CountDown:  func(ctx context.Context) error { _, err := b.CountDown(ctx, "l", "2", 1); return err },
		bedrocktest.LatchCount: func(ctx context.Context) error { _, err := b.LatchCount(ctx, "l"); return err },
		bedrocktest.DropLatch:  func(ctx context.Context) error { _, err := b.DropLatch(ctx, "l"); return err },
		bedrocktest.Plead: func(ctx context.Context) error {
			_, err := b.Plead(ctx, "a", lockdriver.Plea{})
			return err
		},
	}
	for method, call := range ask {
		wantErr(t, call(t.Context()), lockdriver.ErrUnavailable)
		if n := b.Calls(method); n != 1 {
			t.Errorf("%s was counted %d times", method, n)
		}
	}
}

// TestFaultsOfNothing: a fault that never strikes would let a test pass that is about it.
func TestFaultsOfNothing(t *testing.T) {
	s := bedrocktest.NewStore(memstore.New(nil))
	b := bedrocktest.NewBackend(memlock.NewBackend(nil))
	none := bedrocktest.Fault{}
	for _, c := range []struct {
		text    string
		mistake func()
	}{
		{
			`no method "create" (did you mean Create?); want one of Create, Load`,
			func() { s.Fail("create", none) },
		},
		{`no method "Acquire"; want one of Create`, func() { s.LoseReply(bedrocktest.Acquire) }},
		{`no method "Create"; want one of Acquire`, func() { b.Fail(bedrocktest.Create, none) }},
		{`no method "Releas" (did you mean Release?)`, func() { b.Calls("Releas") }},
		{`no method "Update"; want one of Acquire`, func() { b.Returned(bedrocktest.Update) }},
		{"call 0 of Create cannot fail: 0 were made", func() { s.FailCall(bedrocktest.Create, 0, none) }},
	} {
		panics(t, c.text, c.mistake)
	}
	wantErr(t, s.Create(t.Context(), record("a")), nil)
	panics(t, "call 1 of Create cannot fail: 1 were made", func() {
		s.FailCall(bedrocktest.Create, 1, bedrocktest.Fault{})
	})
}
