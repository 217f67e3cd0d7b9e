package election_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestTwoLead: who campaigns while another one leads waits until that has resigned, and its token is higher.
func TestTwoLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		first := campaign(t, p[0].election(nil))
		won := campaignLater(t, p[1].election(nil))
		pass(time.Hour)
		select {
		case <-won:
			t.Fatal("another one leads")
		default:
		}
		if err := first.Err(); err != nil {
			t.Error(err)
		}
		resign(t, first)
		second := <-won
		wantCause(t, first.Context(), lock.ErrReleased)
		wantErr(t, first.Err(), lock.ErrReleased)
		if second.Token() <= first.Token() || second.Owner() == first.Owner() {
			t.Errorf("token %d of %s after %d of %s", second.Token(), second.Owner(), first.Token(), first.Owner())
		}
		resign(t, second)
	})
}

// TestGoroutinesShareATerm: those of one process, too, have terms of their own, and observers are told the very token
// of each: none that is reserved for others.
func TestGoroutinesShareATerm(t *testing.T) {
	for name, opts := range map[string]*election.Options{
		"plain": nil, "fair": {Fair: true}, "max hold": {MaxHold: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processes(t, 2)
				e, other := p[0].election(opts), p[1].election(opts)
				var won []<-chan *election.Term
				for range 5 {
					won = append(won, campaignLater(t, e), campaignLater(t, other))
				}
				owners, last := map[string]bool{}, uint64(0)
				for range won {
					term := nextOf(won)
					leader, err := other.Leader(t.Context())
					if err != nil || leader.Owner != term.Owner() || leader.Token != term.Token() {
						t.Fatalf("observed is %+v, %v; it is %s with %d", leader, err, term.Owner(), term.Token())
					}
					if owners[term.Owner()] || term.Token() <= last {
						t.Errorf("%s leads with token %d after %d", term.Owner(), term.Token(), last)
					}
					owners[term.Owner()], last = true, term.Token()
					resign(t, term)
				}
			})
		})
	}
}

// nextOf waits for one of several campaigns.
func nextOf(won []<-chan *election.Term) *election.Term {
	for {
		synctest.Wait()
		for _, w := range won {
			select {
			case term := <-w:
				return term
			default:
			}
		}
		pass(time.Millisecond)
	}
}

// TestAWrongElectionReachesTheBackend: every method tells what is wrong, and asks nobody.
func TestAWrongElectionReachesTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		for name, e := range map[string]*election.Election{
			"client":  election.New(nil, "job", nil),
			"name":    election.New(p.locks, "", nil),
			"ttl":     p.election(&election.Options{TTL: time.Nanosecond}),
			"maxHold": p.election(&election.Options{MaxHold: time.Nanosecond}),
			"pause":   p.election(&election.Options{Pause: time.Nanosecond}),
			"meta":    p.election(&election.Options{Meta: map[string]string{"a": "\xff"}}),
		} {
			for method, err := range errorsOf(t.Context(), e) {
				if !errors.Is(err, lock.ErrInvalid) {
					t.Errorf("%s: %s: %v", name, method, err)
				}
			}
		}
		for method, err := range errorsOf(nil, p.election(nil)) { //nolint:staticcheck // that is what it is about
			if !errors.Is(err, lock.ErrInvalid) {
				t.Errorf("no context: %s: %v", method, err)
			}
		}
		wantErr(t, p.election(nil).Lead(t.Context(), nil), lock.ErrInvalid)
		if n := p.backend.AllCalls(); n != 0 {
			t.Errorf("%d calls", n)
		}
	})
}

// errorsOf returns what every method says.
func errorsOf(ctx context.Context, e *election.Election) map[string]error {
	errs := map[string]error{}
	_, errs["campaign"] = e.Campaign(ctx)
	errs["lead"] = e.Lead(ctx, func(context.Context, *election.Term) error { return nil })
	_, errs["leader"] = e.Leader(ctx)
	for _, err := range e.Observe(ctx) {
		errs["observe"] = err
		break
	}
	return errs
}

// TestAStoppedClientIsAsked: every method says that it is stopped.
func TestAStoppedClientIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, err := memlock.New(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		stop(t, locks)
		for method, err := range errorsOf(t.Context(), election.New(locks, "job", nil)) {
			if !errors.Is(err, lock.ErrClosed) {
				t.Errorf("%s: %v", method, err)
			}
		}
	})
}

// TestALeaderIsNotDescribed: it is told with all that there is to know, and that there is none, too.
func TestALeaderIsNotDescribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		observer := p[1].election(nil)
		_, err := observer.Leader(t.Context())
		wantErr(t, err, election.ErrNoLeader)
		term := campaign(t, p[0].election(&election.Options{
			TTL: time.Minute, Meta: map[string]string{"address": "10.0.0.7:80"},
		}))
		began := time.Now()
		pass(time.Second)
		leader, err := observer.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if leader.Name != "job" || leader.Meta["address"] != "10.0.0.7:80" || leader.Meta["pid"] == "" ||
			leader.TTL != 59*time.Second || !leader.Since.Equal(began) {
			t.Errorf("told is %+v", leader)
		}
		resign(t, term)
		_, err = observer.Leader(t.Context())
		wantErr(t, err, election.ErrNoLeader)
	})
}

// TestALockOfAnotherKindLeads: the holder of a permit is no leader.
func TestALockOfAnotherKindLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		lease, err := p.locks.Semaphore("job", 2, nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for method, err := range errorsOf(t.Context(), p.election(nil)) {
			if !errors.Is(err, lock.ErrKind) {
				t.Errorf("%s: %v", method, err)
			}
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestALeaderThatCannotRenewGoesOn: its context has ended before another one leads.
func TestALeaderThatCannotRenewGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		first := campaign(t, p[0].election(nil))
		lost := make(chan time.Time, 1)
		context.AfterFunc(first.Context(), func() { lost <- time.Now() })
		won := campaignLater(t, p[1].election(nil))
		pass(time.Minute)
		p[0].backend.Down()
		second := <-won
		now := time.Now()
		if at := <-lost; !at.Before(now) {
			t.Errorf("another one leads since %s, the first until %s", now, at)
		}
		wantCause(t, first.Context(), lock.ErrLost)
		wantErr(t, first.Err(), lock.ErrLost)
		p[0].backend.Up()
		wantErr(t, first.Resign(t.Context()), lock.ErrLost)
		resign(t, second)
	})
}

// TestCampaigningInATermWaitsForItself: it enters the term once more, which ends when both have resigned.
func TestCampaigningInATermWaitsForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		e := p.election(nil)
		outer := campaign(t, e)
		inner, err := e.Campaign(outer.Context())
		if err != nil {
			t.Fatal(err)
		}
		resign(t, outer)
		if leader, err := e.Leader(t.Context()); err != nil || leader.Token != inner.Token() {
			t.Errorf("leads: %+v, %v", leader, err)
		}
		pass(time.Millisecond) // as long as a term is at least
		resign(t, inner)
		_, err = e.Leader(t.Context())
		wantErr(t, err, election.ErrNoLeader)
	})
}

// TestAFrozenBackendHoldsLeaderUp: it waits for one answer, and says that there was none.
func TestAFrozenBackendHoldsLeaderUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		p.backend.Fail(bedrocktest.Inspect, bedrocktest.Fault{Delay: time.Hour})
		began := time.Now()
		_, err := p.election(nil).Leader(t.Context())
		wantErr(t, err, errUnavailable)
		if errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		p.backend.WaitLate()
	})
}

// TestLeaderHidesTheCallersEnd: it is told, with its cause.
func TestLeaderHidesTheCallersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		p.backend.Freeze()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTold)
		defer cancel()
		_, err := p.election(nil).Leader(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		wantErr(t, err, errTold)
		p.backend.Thaw()
	})
}
