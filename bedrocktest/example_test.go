package bedrocktest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// placeOrder is the code under test: a saga over two services.
func placeOrder(ctx context.Context, co txn.Coordinator) (txn.Result, error) {
	return saga.New("order").ID("order-42").
		Step("stock", "stock.deduct", "stock.restore").
		Step("pay", "pay.charge", "pay.refund").
		Run(ctx, co, nil)
}

// services runs a coordinator, whose functions are all the same participant. In a test
// of your own take its *testing.T in place of panics.
func services(ctx context.Context, store driver.Store, parts *bedrocktest.Participant) *coord.Coordinator {
	co, err := coord.New(store, &coord.Options{Poll: 10 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"stock.deduct", "stock.restore", "pay.charge", "pay.refund"} {
		if err := co.Register(name, parts.Func); err != nil {
			panic(err)
		}
	}
	if err := co.Start(ctx); err != nil {
		panic(err)
	}
	return co
}

// output is a test that prints the first line of its failures.
type output struct{ testing.TB }

func (output) Helper() {}

func (output) Context() context.Context { return context.Background() }

func (output) Errorf(format string, args ...any) {
	line, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	fmt.Fprintln(os.Stdout, line)
}

// The first line says what is wrong; below it stands what happened, call by call.
func ExampleCommitted() {
	var t output // in a test of your own: its *testing.T
	ctx := context.Background()
	parts := bedrocktest.NewParticipant()
	parts.On("pay action").Refuse("no money")
	co := services(ctx, memstore.New(nil), parts)
	defer co.Stop(ctx)

	res, _ := placeOrder(ctx, co)
	bedrocktest.Committed(t, co, res.ID)
	bedrocktest.RolledBack(t, co, res.ID)
	parts.Called(t, "stock action", "pay action")
	// Output:
	// transaction order-42: want it committed, it is rolled-back: pay was refused: no money
	// called for: stock action, pay action, stock compensate; want stock action, pay action
}

// A lock is held, and nothing of it is left behind.
func ExampleNotHeld() {
	var t output // in a test of your own: its *testing.T
	ctx := context.Background()
	locks, err := memlock.New(nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(ctx)
	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	bedrocktest.Held(t, lease)
	if err := lease.Unlock(ctx); err != nil {
		fmt.Println(err)
	}
	bedrocktest.NotHeld(t, locks, "orders/42")
	bedrocktest.NoLocksLeft(t, locks, "orders/")
	bedrocktest.Held(t, lease)
	// Output:
	// want it held: lock "orders/42": lease: already released
}

// A participant answers call after call as its script says.
func ExampleParticipant() {
	ctx := context.Background()
	parts := bedrocktest.NewParticipant()
	parts.On("stock action").Pending(1, time.Millisecond).Done(map[string]int{"left": 7})
	parts.On("pay action").Refuse("no money")
	co := services(ctx, memstore.New(nil), parts)
	defer co.Stop(ctx)

	_, err := placeOrder(ctx, co)
	fmt.Println(err)
	for _, call := range parts.Calls() {
		fmt.Println(call.Branch, call.Op)
	}
	// Output:
	// transaction order-42 was rolled back: pay was refused: no money
	// stock action
	// stock action
	// pay action
	// stock compensate
}

// A clock jumps over a lease: its holder has lost it.
func ExampleClock() {
	ctx := context.Background()
	clock := bedrocktest.NewClock()
	locks, err := memlock.New(clock.LockStore(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(ctx)
	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lease.State())
	clock.Advance(time.Minute)
	fmt.Println(lease.State())
	// Output:
	// held
	// lost
}

// The backend does what it is asked for, and its answer is lost: nobody knows whether
// the lock was taken, and it is not left behind.
func ExampleBackend() {
	ctx := context.Background()
	backend := bedrocktest.NewBackend(memlock.NewBackend(nil))
	locks, err := lock.New(backend, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(ctx)
	job := locks.Mutex("jobs/reindex", nil)

	backend.LoseReply(bedrocktest.Acquire)
	_, err = job.TryLock(ctx)
	fmt.Println("may have been taken:", lock.MaybeApplied(err))

	lease, err := job.Lock(ctx)
	fmt.Println("taken:", lease.State(), err)
	// Output:
	// may have been taken: true
	// taken: held <nil>
}

// The store cannot be reached, and its user is told so. When it is back the same order is
// placed again.
func ExampleStore() {
	ctx := context.Background()
	store := bedrocktest.NewStore(memstore.New(nil))
	co := services(ctx, store, bedrocktest.NewParticipant())
	defer co.Stop(ctx)

	store.Down()
	refused, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := placeOrder(refused, co)
	fmt.Println(err)

	store.Up()
	res, err := placeOrder(ctx, co)
	fmt.Println(res.Outcome, err)
	// Output:
	// transaction order-42: outcome not known yet: store unavailable
	// committed <nil>
}
