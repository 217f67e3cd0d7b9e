package etcdguard

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
)

// DefaultPrefix begins the keys of tokens.
const DefaultPrefix = "bedrock/guard/"

// maxPrefix is how long a prefix may be, in bytes.
const maxPrefix = 256

// Options tune a [Guard]. Nil and the zero value are the defaults.
type Options struct {
	// Prefix begins the keys of tokens, behind which is the lock's name. Defaults to [DefaultPrefix].
	Prefix string
	// Observer is told of every refusal, see [lock.EventRefused]. Defaults to nobody.
	Observer lock.Observer
}

// Guard remembers the newest token of each name in etcd. It may be used by many goroutines at once. It is a
// [guard.Store].
type Guard struct {
	client *clientv3.Client
	opts   Options
}

// New returns a guard over the cluster that has the data. The client stays the caller's.
func New(client *clientv3.Client, opts *Options) (*Guard, error) {
	g := &Guard{client: client}
	if opts != nil {
		g.opts = *opts
	}
	if g.opts.Prefix == "" {
		g.opts.Prefix = DefaultPrefix
	}
	var err error
	switch {
	case client == nil:
		err = &input.Error{Field: "client", Problem: "is nil"}
	case len(g.opts.Prefix) > maxPrefix:
		err = input.Errorf("prefix", "is %d bytes long, the limit is %d", len(g.opts.Prefix), maxPrefix)
	case !utf8.ValidString(g.opts.Prefix):
		err = input.Errorf("prefix", "%q is not valid UTF-8", g.opts.Prefix)
	}
	if err != nil {
		return nil, fmt.Errorf("etcdguard: %w", err)
	}
	return g, nil
}

// Txn is a transaction as etcd has it: if all comparisons hold the operations Then are done, else those of Else.
type Txn struct {
	If   []clientv3.Cmp
	Then []clientv3.Op
	Else []clientv3.Op
}

// Clause returns what holds as long as the ticket is the one that was announced last. It is for transactions that are
// not made by [Guard.Commit]; whether it was the clause or another comparison that did not hold, Announce tells.
func (g *Guard) Clause(t guard.Ticket) clientv3.Cmp {
	return clientv3.Compare(clientv3.Value(g.keyOf(t.Name)), "=", encodeToken(t.Token))
}

// Announce remembers a token. A newer one that is known is a [*guard.StaleError]. When it returns nil no transaction
// of an older holder will be made any more.
func (g *Guard) Announce(ctx context.Context, t guard.Ticket) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("etcdguard: announce: %w", err)
	}
	_, err := g.commitGuarded(ctx, t, &Txn{})
	return g.describe(ctx, "announce", t, err)
}

// Commit makes a transaction unless the token is stale, which is a [*guard.StaleError]; a newer one is remembered.
// Another error leaves open whether it was made. The answer is that of the own transaction: that its comparisons do
// not hold is no error. It may have one operation less than the servers allow, 127 as they come: it is made within
// another one.
func (g *Guard) Commit(ctx context.Context, t guard.Ticket, txn Txn) (*clientv3.TxnResponse, error) {
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("etcdguard: commit: %w", err)
	}
	resp, err := g.commitGuarded(ctx, t, &txn)
	return resp, g.describe(ctx, "commit under", t, err)
}

// describe names what was done of an error, and tells the observer of a refusal.
func (g *Guard) describe(ctx context.Context, what string, t guard.Ticket, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, guard.ErrStale):
		return guard.Observed(ctx, g.opts.Observer, err)
	}
	return fmt.Errorf("etcdguard: %s %q: %w", what, t.Name, err)
}

// commitGuarded makes a transaction within one that checks the token: first as one that is announced, and if it is
// not, once more on condition that what is remembered instead has not changed, in place of which it is then.
func (g *Guard) commitGuarded(ctx context.Context, t guard.Ticket, own *Txn) (*clientv3.TxnResponse, error) {
	ctx = clientv3.WithRequireLeader(ctx)
	key, condition := g.keyOf(t.Name), g.Clause(t)
	var remember []clientv3.Op
	for {
		then := append([]clientv3.Op{clientv3.OpTxn(own.If, own.Then, own.Else)}, remember...)
		resp, err := g.client.Txn(ctx).If(condition).Then(then...).Else(clientv3.OpGet(key)).Commit()
		if errors.Is(err, rpctypes.ErrTooManyOps) && remember != nil { // there is no room to do that in the same step
			if _, err := g.commitGuarded(ctx, t, &Txn{}); err != nil {
				return nil, err
			}
			condition, remember = g.Clause(t), nil
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(resp.Responses) == 0 {
			return nil, errNoAnswer
		}
		first := resp.Responses[0]
		if answer := first.GetResponseTxn(); resp.Succeeded && answer != nil {
			answer.Header = resp.Header
			return (*clientv3.TxnResponse)(answer), nil
		}
		newest, modified, err := readToken(first.GetResponseRange().GetKvs())
		if err == nil {
			err = guard.Compare(t, newest)
		}
		if err != nil {
			return nil, err
		}
		condition = clientv3.Compare(clientv3.ModRevision(key), "=", modified)
		remember = []clientv3.Op{clientv3.OpPut(key, encodeToken(t.Token))}
	}
}

// errNoAnswer says that a server has answered something else.
var errNoAnswer = errors.New("the answer is not that of the request")

// keyOf is where the newest token of a name is kept.
func (g *Guard) keyOf(name string) string { return g.opts.Prefix + name }

// encodeToken writes a token so that people can read it.
func encodeToken(token uint64) string { return fmt.Sprintf("%019d", token) }

// readToken returns the newest token, and the revision at which it was written; 0 if there is none.
func readToken(kvs []*mvccpb.KeyValue) (newest uint64, modified int64, err error) {
	for _, kv := range kvs {
		newest, err = strconv.ParseUint(string(kv.Value), 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("the key %q is no token: %w", kv.Key, err)
		}
		modified = kv.ModRevision
	}
	return newest, modified, nil
}
