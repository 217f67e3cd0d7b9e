package combination

import (
	"context"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/several"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// New returns a client whose locks are taken at those backends, from left to right. It owns them from then on. It
// makes no call: that each of them is another store is found out with the first request. A [driver.NonVoter] is
// refused.
func New(nodes []driver.Backend, opts *Options) (*lock.Client, error) {
	b, err := NewBackend(nodes, opts)
	if err != nil {
		return nil, err
	}
	var o lock.Options
	if opts != nil {
		o = opts.Lock
	}
	return lock.New(b, &o)
}

// NewBackend returns the backend alone.
func NewBackend(nodes []driver.Backend, opts *Options) (driver.Backend, error) {
	filled, err := opts.withDefaults(len(nodes))
	if err != nil {
		return nil, err
	}
	b := &backend{Options: filled}
	b.stores, err = several.New(nodes, several.Rules{
		Keep: 1, Need: len(nodes), Limit: filled.Lock.AnswerTime() * 3 / 2,
		Retry: filled.Retry, OnlyPings: true, OnlyPresent: true,
		TakenAtOnce: true, Listen: filled.NodeTimeout, Yield: 2 * filled.AcquireTimeout, Complete: b.isFree,
	})
	if err != nil {
		return nil, err
	}
	b.answer = b.stores.Within(filled.NodeTimeout)
	if b.stores.Virtual() {
		return &virtual{b}, nil
	}
	return b, nil
}

// backend implements the driver interfaces on several others.
type backend struct {
	Options
	stores *several.Stores
	answer *timelimit.Shared // of one node
}

// virtual is a backend all of whose nodes live in this process.
type virtual struct{ *backend }

var (
	_ driver.Backend    = (*backend)(nil)
	_ driver.Waiter     = (*backend)(nil)
	_ driver.Notifier   = (*backend)(nil)
	_ driver.Inspector  = (*backend)(nil)
	_ driver.Forcer     = (*backend)(nil)
	_ driver.Pleader    = (*backend)(nil)
	_ driver.Attender   = (*backend)(nil)
	_ driver.Checker    = (*backend)(nil)
	_ driver.Timekeeper = (*virtual)(nil)
)

// Now implements [driver.Timekeeper].
func (v *virtual) Now() time.Duration { return v.stores.Now() }

// isFree reports whether the node has told of a release that has refused it, or, if none was asked, the leftmost, for
// that is the last to be given back. If one to the right of it has told, the others may fail to: whoever is on the way
// has nothing there.
func (b *backend) isFree(told, refused []bool, _ int) (now, soon bool) {
	at := slices.Index(refused, true)
	if at < 0 {
		at = max(slices.IndexFunc(b.stores.Nodes, (*several.Node).IsPresent), 0)
	}
	return told[at], slices.Contains(told[at:], true)
}

// present returns the nodes that are there, from left to right. Those that have not answered for a while are asked
// for a sign of life, which nobody waits for unless too few are there.
func (b *backend) present(ctx context.Context) ([]*several.Node, error) {
	b.stores.PingInBackground()
	nodes := b.presentNodes()
	if len(nodes) < b.MinNodes {
		call := b.beginCall(ctx)
		defer call.End()
		b.stores.PingAbsent(call)
		nodes = b.presentNodes()
	}
	if len(nodes) < b.MinNodes {
		return nil, &Error{Present: len(nodes), Min: b.MinNodes, Nodes: len(b.stores.Nodes)}
	}
	return nodes, nil
}

func (b *backend) presentNodes() []*several.Node {
	nodes := make([]*several.Node, 0, len(b.stores.Nodes))
	for _, n := range b.stores.Nodes {
		if n.IsPresent() {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// nodeLimit is the context of one call of one node.
func (b *backend) nodeLimit() context.Context { return b.answer.Present(b.stores.Now()) }

// Renew implements [driver.Backend].
func (b *backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	return b.stores.Renew(ctx, grants)
}

// Close implements [driver.Backend].
func (b *backend) Close() error { return b.stores.Close() }

// Watch implements [driver.Waiter].
func (b *backend) Watch(ctx context.Context, name string, kind driver.Kind) (driver.Watch, error) {
	return b.stores.Watch(ctx, name, kind, 1)
}

// Notify implements [driver.Notifier].
func (b *backend) Notify(tell func(driver.Message)) { b.stores.Notify(tell) }

// Inspect implements [driver.Inspector]. Who is on the way to the last node is not the holder.
func (b *backend) Inspect(ctx context.Context, name string) (driver.Info, error) {
	return b.stores.Inspect(ctx, name, 1)
}

// List implements [driver.Inspector].
func (b *backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	return b.stores.List(ctx, prefix, limit, 1)
}

// How long nodes are waited for where others are there: such as nobody has asked yet, and such as are back, perhaps.
const (
	longestMeeting = time.Second
	longestPing    = 20 * time.Millisecond
)

// ForceRelease implements [driver.Forcer]. Nodes that have not answered lately are left out, as when a lock is taken;
// all others must answer. Those that nobody has asked yet have more time than that takes: what stays there of a holder
// who has gone keeps everybody out.
func (b *backend) ForceRelease(ctx context.Context, name string) (bool, error) {
	meeting, met := context.WithTimeout(ctx, meetingTime(ctx))
	defer met()
	b.stores.PingNew(meeting)
	moment, end := context.WithTimeout(ctx, min(b.NodeTimeout, longestPing))
	defer end()
	b.stores.PingAbsent(moment)
	return b.stores.ForceRelease(ctx, name, max(len(b.presentNodes()), 1))
}

// meetingTime leaves the caller with time for what comes after it.
func meetingTime(ctx context.Context) time.Duration {
	end, limited := ctx.Deadline()
	if !limited {
		return longestMeeting
	}
	return min(time.Until(end)/3, longestMeeting)
}

// Plead implements [driver.Pleader].
func (b *backend) Plead(ctx context.Context, name string, p driver.Plea) (int, error) {
	return b.stores.Plead(ctx, name, p, 1)
}

// Attend implements [driver.Attender].
func (b *backend) Attend(_ context.Context, client string, tell func(driver.Message)) (stop func(), err error) {
	return b.stores.Attend(client, tell)
}

// Check implements [driver.Checker].
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	return b.stores.Check(ctx, b.MinNodes)
}
