package coord_test

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

var errAway = errors.New("connection refused")

// lines keeps what is logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSpace(l.text.String()), "\n")
}

// TestAnOutageOfTheStoreIsToldOnceAMinute however many transactions see it, and that it
// is over.
func TestAnOutageOfTheStoreIsToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := bedrocktest.NewStore(memstore.New(nil)), &lines{}
		c := start(t, store, &coord.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}, newParticipants("undo"))
		var calls atomic.Int32
		register(t, c, "step", busy(&calls, time.Second))
		var ids []string
		for range 100 {
			ids = append(ids, submit(t, c, single("", nil)))
		}
		store.FailAll(bedrocktest.Fault{Before: errAway})
		time.Sleep(5*time.Minute + 10*time.Second)
		store.Up()
		for _, id := range ids {
			if res, err := c.Wait(t.Context(), id); err != nil {
				t.Fatalf("%+v %v", res, err)
			}
		}
		time.Sleep(time.Minute)
		told := log.aboutStore()
		if len(told) != 1+5+1 || !strings.Contains(told[5], "failures=") || !strings.Contains(told[6], "works again") {
			t.Errorf("%d lines about five minutes: %s", len(told), strings.Join(told, "\n"))
		}
	})
}

// full is a store on a disk that may be full: it is read then, and not written.
type full struct {
	driver.Store
	is atomic.Bool
}

var errFull = errors.New("database or disk is full")

func (f *full) Create(ctx context.Context, rec *driver.Record) error {
	if f.is.Load() {
		return errFull
	}
	return f.Store.Create(ctx, rec)
}

func (f *full) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	if f.is.Load() {
		return errFull
	}
	return f.Store.Update(ctx, was, rec)
}

// aboutStore is what was logged about the store.
func (l *lines) aboutStore() []string {
	return slices.DeleteFunc(l.all(), func(line string) bool { return !strings.Contains(line, "store") })
}

// TestAStoreThatCanOnlyBeReadIsNotBack: the claims that find nothing succeed all the time,
// and so does every look at a transaction.
func TestAStoreThatCanOnlyBeReadIsNotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := &full{Store: memstore.New(nil)}, &lines{}
		c := start(t, store, &coord.Options{Logger: slog.New(slog.NewTextHandler(log, nil))},
			newParticipants("step", "undo"))
		if err := c.Trouble(); err != nil {
			t.Error("before:", err)
		}
		store.is.Store(true)
		submitted := make(chan error, 1)
		go func() {
			_, err := c.Submit(t.Context(), single("x", nil))
			submitted <- err
		}()
		for range 50 {
			time.Sleep(time.Second)
			_, _ = c.Wait(t.Context(), "another")
			if err := c.Trouble(); !errors.Is(err, errFull) {
				t.Fatal("while nothing can be written:", err)
			}
		}
		if told := log.aboutStore(); len(told) != 1 || !strings.Contains(told[0], "WARN") {
			t.Error("while it lasts:", strings.Join(told, "\n"))
		}
		store.is.Store(false)
		if err := <-submitted; err != nil {
			t.Error(err)
		}
		if told := log.aboutStore(); len(told) != 2 || !strings.Contains(told[1], "works again") || c.Trouble() != nil {
			t.Error("when it is over:", strings.Join(told, "\n"), c.Trouble())
		}
	})
}

// TestAFailureThatNobodyMeetsAgainIsNotHeldAgainstTheStore: a replica that gets no calls
// because it is in trouble could not find out that it is not.
func TestAFailureThatNobodyMeetsAgainIsNotHeldAgainstTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &full{Store: memstore.New(nil)}
		c := start(t, store, nil, newParticipants("step", "undo"))
		store.is.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := c.Submit(ctx, single("", nil)); err == nil || c.Trouble() == nil {
			t.Errorf("submit: %v; trouble: %v", err, c.Trouble())
		}
		time.Sleep(15 * time.Second)
		if err := c.Trouble(); err != nil {
			t.Error("for ever:", err)
		}
	})
}

// unwilling is a store that takes no record.
type unwilling struct{ driver.Store }

func (unwilling) Create(context.Context, *driver.Record) error { return driver.ErrRefused }

// TestARefusedRecordIsNoTroubleOfTheStore: one client's mistake is nobody else's outage.
func TestARefusedRecordIsNoTroubleOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &lines{}
		c := start(t, unwilling{memstore.New(nil)}, &coord.Options{Logger: slog.New(slog.NewTextHandler(log, nil))},
			newParticipants("step", "undo"))
		_, err := c.Submit(t.Context(), single("", nil))
		if told := log.aboutStore(); err == nil || c.Trouble() != nil || len(told) != 0 {
			t.Error(err, c.Trouble(), told)
		}
	})
}

// TestATakeoverIsNoError, and is not logged as one.
func TestATakeoverIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := memstore.New(nil), &lines{}
		cutOff := bedrocktest.NewStore(store)
		all := &slog.HandlerOptions{Level: slog.LevelDebug}
		c1 := start(t, cutOff, &coord.Options{Logger: slog.New(slog.NewTextHandler(log, all))}, newParticipants("undo"))
		var calls atomic.Int32
		register(t, c1, "step", busy(&calls, 3*time.Second))
		id := submit(t, c1, single("", nil))
		synctest.Wait()
		die(cutOff)
		c2 := start(t, store, nil, newParticipants("step", "undo"))
		if err := c2.RollBack(t.Context(), id, "by hand"); err != nil {
			t.Fatal(err)
		}
		cutOff.Up()
		time.Sleep(10 * time.Second)
		nothing := regexp.MustCompile(`\bnil\b`) // as a word: owners have random names
		if text := strings.Join(log.all(), "\n"); !strings.Contains(text, "taken over") || nothing.MatchString(text) {
			t.Error(text)
		}
	})
}

// TestATakeoverOfManyIsOneLine, and says how many: it is what people look for when a
// replica has died.
func TestATakeoverOfManyIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := memstore.New(nil), &lines{}
		cutOff := bedrocktest.NewStore(store)
		c1 := start(t, cutOff, nil, newParticipants("undo"))
		var calls atomic.Int32
		register(t, c1, "step", busy(&calls, time.Minute))
		for range 20 {
			submit(t, c1, single("", nil))
		}
		synctest.Wait()
		die(cutOff)
		c2 := start(t, store, &coord.Options{Logger: slog.New(slog.NewTextHandler(log, nil))},
			newParticipants("step", "undo"))
		time.Sleep(time.Minute)
		if err := c2.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		told := log.all()
		if len(told) != 3 || !strings.Contains(told[0], "has started") || !strings.Contains(told[1], "count=20") ||
			!strings.Contains(told[2], "stops") {
			t.Error(strings.Join(told, "\n"))
		}
	})
}

// late is a store whose answers to claims take their time to arrive.
type late struct {
	driver.Store
	takes atomic.Int64
}

func (l *late) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	claimed, err := l.Store.Claim(ctx, c)
	time.Sleep(time.Duration(l.takes.Load()))
	return claimed, err
}

// TestALateAnswerSetsNoClockBack: leases written after it last as long as others.
func TestALateAnswerSetsNoClockBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &late{Store: memstore.New(nil)}
		c := start(t, store, nil, newParticipants("undo"))
		register(t, c, "step", hang)
		store.takes.Store(int64(4 * time.Second))
		time.Sleep(10 * time.Second)
		id := submit(t, c, single("", &txn.Policy{Timeout: time.Minute}))
		rec, err := store.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if lease := time.Until(rec.Due); lease < 4900*time.Millisecond || lease > 5100*time.Millisecond {
			t.Errorf("a lease of 5 s ends in %v", lease)
		}
	})
}

// TestACommitThatCannotBeWrittenIsNoTrouble: who only completes transactions is told by
// nobody that the disk is full.
func TestACommitThatCannotBeWrittenIsNoTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &full{Store: memstore.New(nil)}
		c := start(t, store, nil, newParticipants("take", "give-back", "give", "take-back"))
		id, err := c.Begin(t.Context(), openTransfer())
		must(t, err)
		store.is.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		err = c.Commit(ctx, id)
		if c.Trouble() == nil {
			t.Error("the store takes no write, and nobody says so:", err)
		}
		store.is.Store(false)
	})
}
