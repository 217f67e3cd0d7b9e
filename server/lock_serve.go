package server

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// locks answers LockService. It keeps nothing of a grant: the store does, so that
// any server on the same store answers for any other.
type locks struct {
	backend    driver.Backend
	successor  driver.Successor // the backend again, nil if no lock is passed on to a client of this server
	limits     *Limits
	log        *slog.Logger
	observer   LockObserver
	endings    endings
	lines      lines
	fairWaits  fairWaits
	listeners  listeners
	attendants attendants
	standing   standings
}

var _ bedrockv1connect.LockServiceHandler = (*locks)(nil)

func newLocks(backend driver.Backend, o *Options) *locks {
	l := &locks{
		backend: backend, limits: o.Limits, log: o.Logger, observer: guarded{o.LockObserver, o.Logger},
		successor: successorOf(backend),
	}
	if l.successor != nil {
		l.successor.Inherit(l.attendants.putGrant)
	}
	return l
}

// Acquire implements the service.
func (l *locks) Acquire(ctx context.Context, m *bedrockv1.AcquireRequest) (*bedrockv1.AcquireResponse, error) {
	req, err := requestOf(m)
	if err != nil {
		return nil, l.translate(ctx, "acquire", err)
	}
	grant, err := l.observeRequest(ctx, req, func(ctx context.Context, req driver.Request) (driver.Grant, error) {
		return l.acquire(ctx, req, m)
	})
	if err != nil {
		return nil, l.translate(ctx, "acquire", err)
	}
	if ctx.Err() != nil { // nobody is there to take it
		l.giveBack(ctx, grant)
		return nil, l.translate(ctx, "acquire", ctx.Err())
	}
	return &bedrockv1.AcquireResponse{Grant: apiwire.Grant(grant)}, nil
}

func (l *locks) acquire(
	ctx context.Context, req driver.Request, m *bedrockv1.AcquireRequest,
) (driver.Grant, error) {
	wait := min(m.GetWait().AsDuration(), l.limits.Wait)
	switch {
	case req.Fair && req.Waits:
		return l.waitInLine(ctx, req, wait, m.GetWaits())
	case wait > 0:
		return l.waitFor(ctx, req, wait)
	case m.GetStand():
		if listener, may := l.mayStand(&req); may {
			return l.standInLine(ctx, req, listener)
		}
	}
	return l.askStore(ctx, req)
}

// newOwner makes up an owner that nobody can guess, because knowing it is enough to release
// the lock.
func newOwner() string { return strings.ToLower(rand.Text()) }

// Renew implements the service.
func (l *locks) Renew(ctx context.Context, m *bedrockv1.RenewRequest) (*bedrockv1.RenewResponse, error) {
	if n := len(m.GetGrants()); n > maxRenewals {
		return nil, l.translate(ctx, "renew", input.Errorf("grants", "%d: at most %d", n, maxRenewals))
	}
	answer := &bedrockv1.RenewResponse{Renewals: make([]*bedrockv1.Renewal, len(m.GetGrants()))}
	var sound []driver.Grant
	var places []int // of the sound ones: one that is not is refused by itself
	for i, g := range m.GetGrants() {
		grant, err := renewalOf(i, g)
		if err != nil {
			answer.Renewals[i] = apiwire.Renewal(driver.Refused(err))
			continue
		}
		sound, places = append(sound, grant), append(places, i)
	}
	if len(sound) == 0 {
		return answer, nil
	}
	for i, err := range l.backend.Renew(ctx, sound) {
		answer.Renewals[places[i]] = apiwire.Renewal(err)
		l.observeRenewal(ctx, &sound[i], err)
	}
	return answer, nil
}

// Release implements the service.
func (l *locks) Release(ctx context.Context, m *bedrockv1.ReleaseRequest) (*bedrockv1.ReleaseResponse, error) {
	g, err := grantOf("grant", m.GetGrant())
	if err != nil {
		return nil, l.translate(ctx, "release", err)
	}
	l.fairWaits.endWaits(fairWait{g.Name, g.Owner})
	l.standing.remove(g.Name, m.GetClient())
	others := l.listeners.others(g.Name, m.GetClient(), &l.standing) // before one of them has the lock by this
	waiting, err := l.releaseObserved(ctx, g)
	if err != nil {
		return nil, l.translate(ctx, "release", err)
	}
	return &bedrockv1.ReleaseResponse{Waiting: uint32(max(waiting+others, 0))}, nil
}
