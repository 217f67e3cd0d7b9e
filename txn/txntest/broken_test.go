package txntest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/trial"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestIntactStorePasses also shows that the reference runs in virtual time.
func TestIntactStorePasses(t *testing.T) {
	for _, b := range behaviours() {
		t.Run(b.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failures := prove(t, b, func(testing.TB) driver.Store { return memstore.New(nil) })
				if len(failures) > 0 {
					t.Error(failures)
				}
			})
		})
	}
}

// TestBrokenStoreIsCaught breaks the reference once for every behaviour, which
// must notice.
func TestBrokenStoreIsCaught(t *testing.T) {
	for _, b := range behaviours() {
		t.Run(b.name, func(t *testing.T) {
			breakIt := mutants()[b.name]
			if breakIt == nil {
				t.Fatal("no mutant: nothing shows that this behaviour can fail")
			}
			synctest.Test(t, func(t *testing.T) {
				failures := prove(t, b, func(testing.TB) driver.Store {
					s := newBroken()
					breakIt(s)
					return s
				})
				if len(failures) == 0 {
					t.Fatal("the broken store passes")
				}
				t.Log(failures[0])
			})
		})
	}
}

// prove runs one behaviour and returns how it failed.
func prove(t testing.TB, b behaviour, open func(testing.TB) driver.Store) []string {
	t.Helper()
	return trial.Failures(t, func(t testing.TB) { b.run(newEnv(t, open)) })
}

func TestMutantsAreOfUse(t *testing.T) {
	names := make(map[string]bool)
	for _, b := range behaviours() {
		if names[b.name] {
			t.Errorf("two behaviours are called %s", b.name)
		}
		names[b.name] = true
	}
	for name := range mutants() {
		if !names[name] {
			t.Errorf("a mutant for %s, which is no behaviour", name)
		}
	}
}

// broken is a store whose methods can be replaced one by one.
type broken struct {
	*memstore.Store

	create func(context.Context, *driver.Record) error
	load   func(context.Context, string) (*driver.Record, error)
	update func(context.Context, driver.Version, *driver.Record) error
	claim  func(context.Context, driver.Claim) (driver.Claimed, error)
	now    func(context.Context) (time.Time, error)
	list   func(context.Context, driver.Query) ([]*driver.Record, error)
	remove func(context.Context, []driver.Ref) (int, error)
	count  func(context.Context) (driver.Counts, error)
	end    func() error
}

func newBroken() *broken {
	s := memstore.New(nil)
	return &broken{
		Store: s, create: s.Create, load: s.Load, update: s.Update, claim: s.Claim, now: s.Now, list: s.List,
		remove: s.Delete, count: s.Count, end: s.Close,
	}
}

func (b *broken) Create(ctx context.Context, rec *driver.Record) error { return b.create(ctx, rec) }

func (b *broken) Load(ctx context.Context, id string) (*driver.Record, error) { return b.load(ctx, id) }

func (b *broken) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	return b.update(ctx, was, rec)
}

func (b *broken) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	return b.claim(ctx, c)
}

func (b *broken) Now(ctx context.Context) (time.Time, error) { return b.now(ctx) }

func (b *broken) List(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	return b.list(ctx, q)
}

func (b *broken) Delete(ctx context.Context, refs []driver.Ref) (int, error) {
	return b.remove(ctx, refs)
}

func (b *broken) Count(ctx context.Context) (driver.Counts, error) { return b.count(ctx) }

func (b *broken) Close() error { return b.end() }
