package coord_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a coordinator on a store until the test ends.
func start(t *testing.T, store driver.Store, opts *coord.Options, parts *participants) *coord.Coordinator {
	t.Helper()
	c, err := coord.New(store, opts)
	if err != nil {
		t.Fatal(err)
	}
	if parts != nil {
		parts.register(t, c)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// participants are functions that answer as they are told, and remember.
type participants struct {
	mu      sync.Mutex
	answers map[string][]error // by function; the last one stays
	calls   []txn.Call
	names   []string
}

func newParticipants(names ...string) *participants {
	return &participants{names: names, answers: make(map[string][]error)}
}

func (p *participants) register(t *testing.T, c *coord.Coordinator) {
	t.Helper()
	for _, name := range p.names {
		if err := c.Register(name, p.function(name)); err != nil {
			t.Fatal(err)
		}
	}
}

// answer sets what a function returns, call after call; the last answer stays.
func (p *participants) answer(name string, answers ...error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[name] = answers
}

func (p *participants) function(name string) txn.Func {
	return func(_ context.Context, call txn.Call) ([]byte, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls = append(p.calls, call)
		queue := p.answers[name]
		if len(queue) == 0 {
			return []byte(`{"by":"` + name + `"}`), nil
		}
		if len(queue) > 1 {
			p.answers[name] = queue[1:]
		}
		return nil, queue[0]
	}
}

// made lists the calls as "branch op".
func (p *participants) made() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for _, call := range p.calls {
		list = append(list, call.Branch+" "+call.Op)
	}
	return list
}

func (p *participants) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls)
}

var (
	errNoMoney = txn.Abort(errors.New("no money"))
	errBroken  = errors.New("broken")
)

// transfer is a saga of two steps.
func transfer() txn.Definition {
	return txn.Definition{Mode: "saga", Name: "transfer", Payload: []byte(`{"amount":30}`), Branches: []txn.Branch{
		{ID: "take", Do: "take", Undo: "give-back"},
		{ID: "give", After: []string{"take"}, Do: "give", Undo: "take-back"},
	}}
}

func transferParts() *participants {
	return newParticipants("take", "give-back", "give", "take-back")
}

// mortalOwner starts a coordinator that can be made to die, and its store.
func mortalOwner(t *testing.T, parts *participants) (*memstore.Store, *bedrocktest.Store, *coord.Coordinator) {
	store := memstore.New(nil)
	dying := bedrocktest.NewStore(store)
	return store, dying, start(t, dying, nil, parts)
}

// withoutRoom starts a coordinator that is busy until the test ends: what it accepts is
// left to whoever has room.
func withoutRoom(t *testing.T, store driver.Store, parts *participants) *coord.Coordinator {
	c := start(t, store, &coord.Options{Active: 1}, parts)
	block := make(chan struct{})
	t.Cleanup(func() { close(block) })
	register(t, c, "block", func(context.Context, txn.Call) ([]byte, error) { <-block; return nil, nil })
	_, err := c.Submit(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "block"}}})
	must(t, err)
	return c
}

// get reads a transaction that must be there.
func get(t *testing.T, c *coord.Coordinator, id string) *txn.Transaction {
	t.Helper()
	tx, err := c.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}
