package etcdguard_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/etcdguard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
)

func TestMain(m *testing.M) {
	guardtest.PlayHolder(openWriter)
	goleak.VerifyTestMain(m)
}

// store is a cluster with a client of it.
type store struct {
	member *testenv.EtcdMember
	client *clientv3.Client
}

func startStore(t *testing.T) *store {
	t.Helper()
	s := &store{member: testenv.StartEtcd(t, nil).Members[0]}
	s.client = s.connect(t)
	return s
}

func (s *store) connect(t *testing.T) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.member.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func (s *store) guard(t *testing.T, opts *etcdguard.Options) *etcdguard.Guard {
	t.Helper()
	g, err := etcdguard.New(s.client, opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// valueOf returns what is at a key, nothing if there is no such key.
func (s *store) valueOf(t *testing.T, key string) string {
	t.Helper()
	resp, err := s.client.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		return string(kv.Value)
	}
	return ""
}

func ticket(t *testing.T, token uint64) guard.Ticket {
	t.Helper()
	return guard.Ticket{Name: t.Name(), Token: token}
}

func wantStale(t *testing.T, err error, token, newest uint64) {
	t.Helper()
	stale, ok := errors.AsType[*guard.StaleError](err)
	if !ok || stale.Token != token || stale.Newest != newest {
		t.Errorf("token %d: %v, want a refusal that knows %d", token, err, newest)
	}
}

func mustAccept(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// put sets a key unless the ticket is stale.
func put(ctx context.Context, g *etcdguard.Guard, ticket guard.Ticket, key, value string) error {
	_, err := g.Commit(ctx, ticket, etcdguard.Txn{Then: []clientv3.Op{clientv3.OpPut(key, value)}})
	return err
}

func TestTokensAreMixedUp(t *testing.T) {
	t.Parallel()
	s := startStore(t)
	g := s.guard(t, nil)
	for i, step := range []struct{ token, newest uint64 }{
		{5, 0},
		{5, 0},
		{4, 5},
		{10, 0},
		{9, 10},
		{10, 0},
		{1 << 53, 0},
		{1<<53 + 1, 0},
		{1 << 53, 1<<53 + 1},
		{driver.MaxToken - 1, 0},
		{driver.MaxToken, 0},
		{driver.MaxToken - 1, driver.MaxToken},
		{driver.MaxToken, 0},
	} {
		value, shown := strconv.Itoa(i), ticket(t, step.token)
		first, then := put(t.Context(), g, shown, "value", value), g.Announce(t.Context(), shown)
		if i%2 == 0 {
			first, then = g.Announce(t.Context(), shown), put(t.Context(), g, shown, "value", value)
		}
		if step.newest > 0 {
			wantStale(t, first, step.token, step.newest)
			wantStale(t, then, step.token, step.newest)
		} else {
			mustAccept(t, first)
			mustAccept(t, then)
		}
		if written := s.valueOf(t, "value") == value; written != (step.newest == 0) {
			t.Errorf("token %d: written %v", step.token, written)
		}
	}
}

// TestLongTransactionIsRefusedAtFirst: whether its token was announced before makes no difference.
func TestLongTransactionIsRefusedAtFirst(t *testing.T) {
	t.Parallel()
	s := startStore(t)
	g := s.guard(t, nil)
	var ops []clientv3.Op
	for i := range 127 {
		ops = append(ops, clientv3.OpPut(fmt.Sprintf("k/%d", i), "v"))
	}
	for range 2 {
		mustAccept(t, second(g.Commit(t.Context(), ticket(t, 7), etcdguard.Txn{Then: ops})))
	}
	wantStale(t, second(g.Commit(t.Context(), ticket(t, 6), etcdguard.Txn{Then: ops})), 6, 7)
}

func TestNamesMeet(t *testing.T) {
	t.Parallel()
	g := startStore(t).guard(t, nil)
	names := []string{"a", "A", "ä", "a/", "a/b", "/a", "a%2Fb", "日本 ", " ", strings.Repeat("x", driver.MaxName)}
	for i, name := range names {
		mustAccept(t, g.Announce(t.Context(), guard.Ticket{Name: name, Token: uint64(100 - i)}))
	}
	for i, name := range names {
		newest := uint64(100 - i)
		mustAccept(t, put(t.Context(), g, guard.Ticket{Name: name, Token: newest}, "k", "v"))
		wantStale(t, put(t.Context(), g, guard.Ticket{Name: name, Token: newest - 1}, "k", "v"), newest-1, newest)
	}
}

// TestOwnComparisonsAreLost: the answer is that of the own transaction, whichever way that goes, also when the token is
// a new one; and of one that is stale nothing is done, not even what is done else.
func TestOwnComparisonsAreLost(t *testing.T) {
	t.Parallel()
	s := startStore(t)
	g := s.guard(t, nil)
	change := func(token uint64, from, to string) (*clientv3.TxnResponse, error) {
		return g.Commit(t.Context(), ticket(t, token), etcdguard.Txn{
			If:   []clientv3.Cmp{clientv3.Compare(clientv3.Value("stock"), "=", from)},
			Then: []clientv3.Op{clientv3.OpPut("stock", to)},
			Else: []clientv3.Op{clientv3.OpPut("refused", to), clientv3.OpGet("stock")},
		})
	}
	mustAccept(t, put(t.Context(), g, ticket(t, 1), "stock", "7"))
	for i, token := range []uint64{1, 2, 2} {
		from, to := strconv.Itoa(7-i), strconv.Itoa(6-i)
		if resp, err := change(token, from, to); err != nil || !resp.Succeeded || resp.Header.Revision == 0 {
			t.Errorf("token %d: %+v, %v", token, resp, err)
		}
	}
	resp, err := change(3, "7", "0")
	if err != nil || resp.Succeeded || len(resp.Responses) != 2 ||
		string(resp.Responses[1].GetResponseRange().Kvs[0].Value) != "4" {
		t.Errorf("what does not hold: %+v, %v", resp, err)
	}
	_, err = change(2, "7", "1")
	wantStale(t, err, 2, 3)
	if stock, refused := s.valueOf(t, "stock"), s.valueOf(t, "refused"); stock != "4" || refused != "0" {
		t.Errorf("the stock is %q, and refused was %q", stock, refused)
	}
}

// TestClauseLetsAStrangerIn: it holds for who was announced last, and not before that.
func TestClauseLetsAStrangerIn(t *testing.T) {
	t.Parallel()
	s := startStore(t)
	g := s.guard(t, nil)
	holds := func(token uint64) bool {
		resp, err := s.client.Txn(t.Context()).If(g.Clause(ticket(t, token))).Then(clientv3.OpPut("k", "v")).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return resp.Succeeded
	}
	if holds(2) {
		t.Error("it holds before anybody is announced")
	}
	for _, token := range []uint64{2, 10} {
		mustAccept(t, g.Announce(t.Context(), ticket(t, token)))
		if !holds(token) || holds(token-1) || holds(token+1) {
			t.Errorf("of %d, %d and %d it holds for %t, %t, %t", token-1, token, token+1,
				holds(token-1), holds(token), holds(token+1))
		}
	}
	if err := put(t.Context(), g, ticket(t, 11), "k", "v"); err != nil || holds(10) || !holds(11) {
		t.Errorf("a newer one has written: %v, and it holds for %t and %t", err, holds(10), holds(11))
	}
}

func TestRace(t *testing.T) {
	t.Parallel()
	s := startStore(t)
	g := s.guard(t, nil)
	var entries atomic.Int64
	guardtest.Contest{
		Announce: g.Announce,
		Append: func(ctx context.Context, ticket guard.Ticket) error {
			key := "log/" + strconv.FormatInt(entries.Add(1), 10)
			return put(ctx, g, ticket, key, strconv.FormatUint(ticket.Token, 10))
		},
		Repeatable: func(error) bool { return false },
		Entries: func(t *testing.T) (tokens []uint64) {
			t.Helper()
			resp, err := s.client.Get(t.Context(), "log/", clientv3.WithPrefix(),
				clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
			if err != nil {
				t.Fatal(err)
			}
			for _, kv := range resp.Kvs {
				token, err := strconv.ParseUint(string(kv.Value), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				tokens = append(tokens, token)
			}
			return tokens
		},
	}.Run(t)
}

// TestKeyIsNoToken: what somebody else has put there is not overwritten.
func TestKeyIsNoToken(t *testing.T) {
	t.Parallel()
	s := startStore(t)
	g := s.guard(t, &etcdguard.Options{Prefix: "app/"})
	if _, err := s.client.Put(t.Context(), "app/"+t.Name(), "text"); err != nil {
		t.Fatal(err)
	}
	if err := g.Announce(t.Context(), ticket(t, 1)); err == nil || errors.Is(err, guard.ErrStale) {
		t.Errorf("announced over what is no token: %v", err)
	}
	if got := s.valueOf(t, "app/"+t.Name()); got != "text" {
		t.Errorf("it is %q now", got)
	}
}

type watcher struct{ events []lock.Event }

func (w *watcher) Observe(_ context.Context, e lock.Event) { w.events = append(w.events, e) }

func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	w := &watcher{}
	g := startStore(t).guard(t, &etcdguard.Options{Observer: w})
	mustAccept(t, g.Announce(t.Context(), ticket(t, 2)))
	wantStale(t, g.Announce(t.Context(), ticket(t, 1)), 1, 2)
	wantStale(t, put(t.Context(), g, ticket(t, 1), "k", "v"), 1, 2)
	if len(w.events) != 2 || w.events[1].Kind != lock.EventRefused || w.events[1].Name != t.Name() {
		t.Errorf("%+v", w.events)
	}
}

// TestContextsAreHeeded: also when the server does not answer.
func TestContextsAreHeeded(t *testing.T) {
	t.Parallel()
	s := startStore(t)
	g := s.guard(t, nil)
	mustAccept(t, g.Announce(t.Context(), ticket(t, 1)))
	s.member.Freeze()
	defer s.member.Thaw()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := g.Announce(ctx, ticket(t, 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestHolderWritesAfterTheNext: with locks in the same cluster, who was granted one after waiting, and who has had it
// before.
func TestHolderWritesAfterTheNext(t *testing.T) {
	t.Parallel()
	s := startStore(t)
	g := s.guard(t, nil)
	var leases []*lock.Lease
	for range 2 {
		locks, err := etcdlock.New(s.connect(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = locks.Stop(context.WithoutCancel(t.Context())) })
		lease, err := locks.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustAccept(t, g.Announce(t.Context(), guard.Of(lease)))
		mustAccept(t, put(t.Context(), g, guard.Of(lease), "k", "v"))
		if len(leases) == 0 {
			mustAccept(t, lease.Unlock(t.Context()))
		}
		leases = append(leases, lease)
	}
	wantStale(t, put(t.Context(), g, guard.Of(leases[0]), "k", "late"), leases[0].Token(), leases[1].Token())
	mustAccept(t, leases[1].Unlock(t.Context()))
}

func TestWrongInput(t *testing.T) {
	t.Parallel()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	g, err := etcdguard.New(client, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]error{
		"name":   g.Announce(t.Context(), guard.Ticket{Token: 1}),
		"token":  put(t.Context(), g, guard.Ticket{Name: "a"}, "k", "v"),
		"client": second(etcdguard.New(nil, nil)),
		"prefix": second(etcdguard.New(client, &etcdguard.Options{Prefix: "\xff"})),
	} {
		if wrong, ok := errors.AsType[*input.Error](got); !ok || wrong.Field != want {
			t.Errorf("%s: %v", want, got)
		}
	}
	if _, err := etcdguard.New(client, &etcdguard.Options{Prefix: strings.Repeat("x", 257)}); err == nil ||
		!strings.Contains(err.Error(), "256") {
		t.Errorf("a long prefix: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// shelf is a writer to one key.
type shelf struct {
	*etcdguard.Guard

	key string
}

func (s shelf) Write(ctx context.Context, t guard.Ticket, value string) error {
	return put(ctx, s.Guard, t, s.key, value)
}

func openWriter(_ context.Context, where []string) (guardtest.Writer, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: where[:1]})
	if err != nil {
		return nil, err
	}
	g, err := etcdguard.New(client, nil)
	return shelf{g, where[1]}, err
}

func TestPausedHolderWrites(t *testing.T) {
	t.Parallel()
	s := startStore(t)
	guardtest.PausedHolderWrites(t, func(t *testing.T) guardtest.Resource {
		t.Helper()
		w := shelf{s.guard(t, nil), t.Name()}
		value := func(t *testing.T) string {
			t.Helper()
			return s.valueOf(t, w.key)
		}
		return guardtest.Resource{Writer: w, Where: []string{s.member.Addr(), t.Name()}, Value: value}
	})
}
