package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

// renewAtOnce bounds the grants of one request.
const renewAtOnce = 1000

// backend is a server's locks, as a backend of package lock.
type backend struct {
	client  *Client
	id      string                    // this backend's name for itself
	slow    atomic.Bool               // the last acquisition got no answer
	single  atomic.Pointer[time.Time] // until when the server is taken for one that grants no locks in one step
	hearing hearing

	standing standings
	heard    heardNames

	life context.Context //nolint:containedctx // of watches, which outlive the calls that make them
	end  context.CancelFunc
	work sync.WaitGroup
}

var (
	_ driver.Backend    = (*backend)(nil)
	_ driver.Waiter     = (*backend)(nil)
	_ driver.Resumer    = (*backend)(nil)
	_ driver.Successor  = (*backend)(nil)
	_ driver.Inspector  = (*backend)(nil)
	_ driver.Forcer     = (*backend)(nil)
	_ driver.Checker    = (*backend)(nil)
	_ driver.Identifier = (*backend)(nil)
	_ driver.Bundler    = (*backend)(nil)
	_ driver.Annotator  = (*backend)(nil)
	_ driver.Downgrader = (*backend)(nil)
	_ driver.Latches    = (*backend)(nil)
	_ driver.Notifier   = (*backend)(nil)
	_ driver.Pleader    = (*backend)(nil)
)

// Backend returns the server's locks, for lock.New. Closing it leaves the client
// open.
func (c *Client) Backend() driver.Backend {
	b := &backend{client: c, id: strings.ToLower(rand.Text())}
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// lockError says what an error has left behind, in the driver's classes. What is of no name is said by who calls.
func lockError(what, name string, err error) error {
	said, meant := apiwire.LockErrorOf(err)
	switch {
	case said:
		return meant
	case unsent(err):
		err = fmt.Errorf("%w: %w", driver.ErrUnavailable, withoutCode(err))
	case unknownThere(err):
		err = fmt.Errorf("%w: %w: %w", driver.ErrUnavailable, errNoAPI, withoutCode(err))
	case transportEffect(err) == answered:
		err = fmt.Errorf("%w: %w", driver.ErrRefused, err)
	default: // its code says unavailable, which would mean that nothing has happened
		err = withoutCode(err)
	}
	if name == "" {
		return err
	}
	return fmt.Errorf("%s %q: %w", what, name, err)
}

// Acquire implements [driver.Backend].
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return b.request(ctx, &req, false)
}

// request asks for a lock, by a request that may stand in line if it is so wanted.
func (b *backend) request(ctx context.Context, req *driver.Request, stand bool) (driver.Grant, error) {
	// What the server would refuse is not sent; and where there is no owner, it would make
	// one up. Which modes there are, its store knows.
	if err := driver.Refused(req.Check()); err != nil {
		return driver.Grant{}, fmt.Errorf("acquire %q: %w", req.Name, err)
	}
	b.attend(req.Owner)
	began, wait := time.Now(), waitInLine(ctx, req)
	m := apiwire.Request(*req)
	m.Stand = stand
	if wait > 0 {
		m.Wait = durationpb.New(wait)
	}
	res, err := lasting(ctx, b, wait, b.client.locks.Acquire, m)
	if err != nil {
		meant := neverHeardOfVotes(req, acquireError("acquire", req.Name, err))
		return driver.Grant{}, askAgainAtOnce(ctx, meant, time.Since(began), wait)
	}
	grant, err := apiwire.GrantOf(res.GetGrant())
	if err != nil {
		return driver.Grant{}, acquireError("acquire", req.Name, err)
	}
	return grant, nil
}

// callTime bounds a request that a server answers at once or never: its caller may have
// left, or have all the time in the world while others wait for the lock.
const callTime = 10 * time.Second

// lasting makes a call that asks for locks. It is not broken off when its caller leaves. That would close the
// connection and not call the request back, and nobody would know when to clean up. Nor is it repeated: the
// next try has another owner. The server may take so long as wait besides.
func lasting[Req, Res any](
	ctx context.Context, b *backend, wait time.Duration, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	b.work.Add(1)
	began := time.Now()
	res, err := driver.Await(ctx, func() (*Res, error) {
		defer b.work.Done()
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		defer context.AfterFunc(b.life, cancel)()
		res, err := tryOnce(own, b.client, wait+b.acquireTime(), do, req)
		b.slow.Store(errors.Is(err, errUnheard))
		return res, err
	})
	if err != nil {
		b.leftUnheard(began.Add(wait), err)
	}
	return res, err
}

// acquireTime is how long an acquisition may take: as long as the first try of any other
// call, and longer if the last one got no answer, because the server may be slow. The
// caller's patience is enough for a few of them.
func (b *backend) acquireTime() time.Duration {
	if b.slow.Load() {
		return callTime / 3
	}
	return callTime / firstShare
}

// leftUnheard suspects connections as soon as a caller leaves without an answer. The
// request that is left behind would do so itself, but later.
func (b *backend) leftUnheard(began time.Time, err error) {
	if _, left := errors.AsType[*driver.UnderwayError](err); left {
		b.client.suspect(began)
	}
}

// acquireError says what an acquisition has left behind. When a server loses its caller, or
// cannot answer, it gives back what that caller may have been granted; so nobody may ask
// again under that owner, unless the server has never seen it.
func acquireError(what, name string, err error) error {
	meant := newerError(what, name, err)
	if unsent(err) || errors.Is(meant, driver.ErrHeld) || errors.Is(meant, driver.ErrRefused) {
		return meant
	}
	return driver.Spent(meant)
}

// tooLarge reports whether a server has refused a request for its size. A server that is
// too busy adds details to that code.
func tooLarge(err error) bool {
	said, _ := apiwire.LockErrorOf(err)
	return !said && connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeResourceExhausted
}

// Renew implements [driver.Backend].
func (b *backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	results := make([]error, len(grants))
	sound := make([]int, 0, len(grants)) // indexes: one that is not would spoil the rest
	for i := range grants {
		if results[i] = driver.Refused(driver.CheckOwner(grants[i].Owner)); results[i] == nil {
			sound = append(sound, i)
		}
	}
	for part := range slices.Chunk(sound, renewAtOnce) {
		b.renew(ctx, grants, part, results)
	}
	return results
}

// renew renews some of the grants in one request; or in several, if it is too large for
// the server, whose limit nobody here knows.
func (b *backend) renew(ctx context.Context, grants []driver.Grant, part []int, results []error) {
	req := &bedrockv1.RenewRequest{Grants: make([]*bedrockv1.Grant, len(part))}
	for i, at := range part {
		req.Grants[i] = apiwire.Grant(grants[at])
	}
	res, err := callOnce(ctx, b.client, b.client.locks.Renew, req)
	if half := len(part) / 2; half > 0 && tooLarge(err) {
		b.renew(ctx, grants, part[:half], results)
		b.renew(ctx, grants, part[half:], results)
		return
	}
	if err == nil && len(res.GetRenewals()) != len(part) {
		err = fmt.Errorf("%d answers to %d renewals", len(res.GetRenewals()), len(part))
	}
	for i, at := range part {
		if err != nil {
			results[at] = lockError("renew", grants[at].Name, err)
		} else {
			results[at] = apiwire.RenewalOf(res.GetRenewals()[i])
		}
	}
}

// Release implements [driver.Backend].
func (b *backend) Release(ctx context.Context, g driver.Grant) (int, error) {
	if err := driver.Refused(driver.CheckOwner(g.Owner)); err != nil {
		return 0, fmt.Errorf("release %q: %w", g.Name, err)
	}
	b.standing.remove(g.Owner)
	req := &bedrockv1.ReleaseRequest{Grant: apiwire.Grant(g), Client: b.id}
	res, err := twice(ctx, b.client, b.client.locks.Release, req)
	if err != nil {
		return 0, lockError("release", g.Name, err)
	}
	return int(res.GetWaiting()), nil
}

// Close implements [driver.Backend]. It ends the watches.
func (b *backend) Close() error {
	b.end()
	b.work.Wait()
	return nil
}

// Inspect implements [driver.Inspector].
func (b *backend) Inspect(ctx context.Context, name string) (driver.Info, error) {
	res, err := twice(ctx, b.client, b.client.locks.Inspect, &bedrockv1.InspectRequest{Name: name})
	if err != nil {
		return driver.Info{}, lockError("inspect", name, err)
	}
	info, err := apiwire.LockOf(res.GetLock())
	if err != nil {
		return driver.Info{}, lockError("inspect", name, err)
	}
	return info, nil
}

// List implements [driver.Inspector]. More than [txn.MaxPage] is refused, as the server would:
// who asks for more would take a short list for all there is.
func (b *backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	if _, err := txn.PageSize(limit); err != nil {
		return nil, err
	}
	req := &bedrockv1.BrowseRequest{Prefix: prefix, Limit: int32(limit)}
	res, err := twice(ctx, b.client, b.client.locks.Browse, req)
	if err != nil {
		return nil, lockError("list", prefix, err)
	}
	infos := make([]driver.Info, len(res.GetLocks()))
	for i, m := range res.GetLocks() {
		if infos[i], err = apiwire.LockOf(m); err != nil {
			return nil, lockError("list", prefix, err)
		}
	}
	return infos, nil
}

// ForceRelease implements [driver.Forcer].
func (b *backend) ForceRelease(ctx context.Context, name string) (bool, error) {
	// Asked again it would find nothing.
	req := &bedrockv1.ForceReleaseRequest{Name: name, Reason: b.client.forceReason}
	res, err := tryOnce(ctx, b.client, callTime, b.client.locks.ForceRelease, req)
	if err != nil {
		return false, lockError("force release", name, err)
	}
	return res.GetHeld(), nil
}

// Check implements [driver.Checker]: what the server's store says of itself.
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	res, err := twice(ctx, b.client, b.client.locks.Diagnose, &bedrockv1.DiagnoseRequest{})
	if err != nil {
		return nil, lockError("check", "", err)
	}
	findings := make([]driver.Finding, len(res.GetFindings()))
	for i, m := range res.GetFindings() {
		findings[i] = apiwire.FindingOf(m)
	}
	return findings, nil
}
