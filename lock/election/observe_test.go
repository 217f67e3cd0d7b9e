package election_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// sight is what an observer was told, and when.
type sight struct {
	leader election.Leader
	err    error
	at     time.Duration
}

// observe has an observer in a goroutine of its own. What it sees is to be received; the channel is closed when it
// ends.
func observe(ctx context.Context, e *election.Election) <-chan sight {
	seen := make(chan sight, 1000)
	began := time.Now()
	go func() {
		defer close(seen)
		for leader, err := range e.Observe(ctx) {
			seen <- sight{leader, err, time.Since(began)}
		}
	}()
	return seen
}

// wantLeader wants the next that is seen to be that term, or no leader.
func wantLeader(t *testing.T, seen <-chan sight, term *election.Term) sight {
	t.Helper()
	s := <-seen
	switch {
	case s.err != nil:
		t.Errorf("seen is an error: %v", s.err)
	case s.leader.Name != "job":
		t.Errorf("seen is %+v", s.leader)
	case term == nil && s.leader.Owner != "":
		t.Errorf("seen is %+v, and nobody leads", s.leader)
	case term != nil && (s.leader.Owner != term.Owner() || s.leader.Token != term.Token()):
		t.Errorf("seen is %+v, and %s leads with token %d", s.leader, term.Owner(), term.Token())
	}
	return s
}

// wantNothing wants nothing to be seen for a time.
func wantNothing(t *testing.T, seen <-chan sight, d time.Duration) {
	t.Helper()
	pass(d)
	select {
	case s := <-seen:
		t.Errorf("seen is %+v", s)
	default:
	}
}

// TestAChangeOfLeadersIsNotSeen: who leads first, that nobody does, and who leads next, each once and soon.
func TestAChangeOfLeadersIsNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 3)
		ctx, cancel := context.WithCancel(t.Context())
		seen := observe(ctx, p[2].election(nil))
		wantLeader(t, seen, nil)
		wantNothing(t, seen, time.Minute)

		before := time.Now()
		first := campaign(t, p[0].election(nil))
		wantLeader(t, seen, first)
		if took := time.Since(before); took > 2*time.Second {
			t.Errorf("the first leader is seen after %s", took)
		}
		wantNothing(t, seen, time.Hour)

		before = time.Now()
		resign(t, first)
		wantLeader(t, seen, nil)
		if took := time.Since(before); took > 0 {
			t.Errorf("that nobody leads is seen after %s", took)
		}
		pass(20 * time.Millisecond)
		before = time.Now()
		second := campaign(t, p[1].election(nil))
		wantLeader(t, seen, second)
		if took := time.Since(before); took > 100*time.Millisecond {
			t.Errorf("the next leader is seen after %s", took)
		}

		won := campaignLater(t, p[0].election(nil))
		pass(time.Second)
		before = time.Now()
		resign(t, second)
		third := <-won
		s := <-seen
		if s.leader.Owner == "" {
			s = <-seen
		}
		if took := time.Since(before); s.leader.Token != third.Token() || took > 20*time.Millisecond {
			t.Errorf("seen is %+v after %s", s, took)
		}
		cancel()
		if s, more := <-seen; more {
			t.Errorf("seen at the end: %+v", s)
		}
		resign(t, third)
	})
}

// TestAFairChangeIsNotSeen: the store tells the next in line, and observers, too.
func TestAFairChangeIsNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 3)
		fair := &election.Options{Fair: true}
		term := campaign(t, p[0].election(fair))
		seen := observe(t.Context(), p[2].election(nil))
		wantLeader(t, seen, term)
		for i := range 10 {
			won := campaignLater(t, p[1-i%2].election(fair))
			pass(time.Minute)
			before := time.Now()
			resign(t, term)
			term = <-won
			s := <-seen
			if s.leader.Owner == "" {
				s = <-seen
			}
			if took := time.Since(before); s.leader.Token != term.Token() || took > 20*time.Millisecond {
				t.Errorf("seen is %+v after %s", s, took)
			}
		}
		resign(t, term)
	})
}

// TestADeadLeaderIsSeenForLong: when its time is up it is seen that nobody leads, although nobody tells.
func TestADeadLeaderIsSeenForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		campaign(t, p[0].election(nil))
		seen := observe(t.Context(), p[1].election(nil))
		wantNothing(t, skipOne(seen), 10*time.Minute)
		leader, err := p[1].election(nil).Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p[0].backend.Down()
		gone := time.Now()
		wantLeader(t, seen, nil)
		if late := time.Since(gone) - leader.TTL; late < 0 || late > 10*time.Millisecond {
			t.Errorf("seen %s after its time was up", late)
		}
		p[0].backend.Up()
	})
}

func skipOne(seen <-chan sight) <-chan sight {
	<-seen
	return seen
}

// TestATermOfTheSameProcessIsTakenForTheOneBefore: it is another one, also where it follows at once.
func TestATermOfTheSameProcessIsTakenForTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		e := p[0].election(nil)
		term := campaign(t, e)
		seen := observe(t.Context(), p[1].election(nil))
		wantLeader(t, seen, term)
		for range 10 {
			pass(time.Second)
			won := campaignLater(t, e)
			synctest.Wait()
			resign(t, term)
			term = <-won
			s := <-seen
			if s.leader.Owner == "" {
				s = <-seen
			}
			if s.leader.Token != term.Token() {
				t.Errorf("seen is %+v, and token %d leads", s, term.Token())
			}
		}
		resign(t, term)
	})
}

// TestObserversCostMoreThanTheySay: a request every 5 s while somebody leads, and one every second while nobody does;
// where the store tells nothing, one every second.
func TestObserversCostMoreThanTheySay(t *testing.T) {
	for _, c := range []struct {
		name        string
		tells, led  bool
		least, most int // in 100 s
	}{
		{"led", true, true, 18, 27},
		{"nobody leads", true, false, 80, 140},
		{"led, deaf", false, true, 80, 140},
		{"nobody leads, deaf", false, false, 80, 140},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				backend := bedrocktest.NewBackend(memlock.NewBackend(store))
				var seenBy driver.Backend = backend
				if !c.tells {
					seenBy = deaf{backend, backend}
				}
				e := election.New(open(t, seenBy, nil), "job", nil)
				other := election.New(open(t, memlock.NewBackend(store), nil), "job", nil)
				if c.led {
					defer resign(t, campaign(t, other))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
				defer cancel()
				for range observe(ctx, e) {
				}
				if n := backend.Calls(bedrocktest.Inspect); n < c.least || n > c.most {
					t.Errorf("%d requests in 100 s", n)
				}
			})
		})
	}
}

// TestAShortTTLIsFollowedClosely: what is renewed every few milliseconds is not looked at as often.
func TestAShortTTLIsFollowedClosely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		defer resign(t, campaign(t, p[0].election(&election.Options{TTL: 10 * time.Millisecond})))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for range observe(ctx, p[1].election(nil)) {
		}
		if n := p[1].backend.Calls(bedrocktest.Inspect); n > 105 {
			t.Errorf("%d requests in 10 s", n)
		}
	})
}

// deaf is a backend that tells of no releases.
type deaf struct {
	driver.Backend
	driver.Inspector
}

// TestADeafObserverSeesNoChange: within about a second it does.
func TestADeafObserverSeesNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		locks := open(t, deaf{p[0].backend, p[0].backend}, nil)
		seen := observe(t.Context(), election.New(locks, "job", nil))
		wantLeader(t, seen, nil)
		pass(time.Minute)
		for range 10 {
			before := time.Now()
			term := campaign(t, p[1].election(nil))
			wantLeader(t, seen, term)
			pass(3 * time.Second)
			resign(t, term)
			wantLeader(t, seen, nil)
			if took := time.Since(before); took > 6*time.Second {
				t.Errorf("seen after %s", took)
			}
		}
	})
}

// TestAnOutageIsToldAgainAndAgain: once, and then who leads, also if that is the one before.
func TestAnOutageIsToldAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		term := campaign(t, p[0].election(nil))
		seen := observe(t.Context(), p[1].election(nil))
		wantLeader(t, seen, term)
		for range 2 {
			p[1].backend.Down()
			s := <-seen
			wantErr(t, s.err, driver.ErrUnavailable)
			if s.leader.Owner != "" {
				t.Errorf("told with the error is %+v", s.leader)
			}
			calls := p[1].backend.Calls(bedrocktest.Inspect)
			wantNothing(t, seen, 100*time.Second)
			if n := p[1].backend.Calls(bedrocktest.Inspect) - calls; n < 80 || n > 150 {
				t.Errorf("%d requests within 100 s of an outage", n)
			}
			p[1].backend.Up()
			wantLeader(t, seen, term)
			wantNothing(t, seen, time.Minute)
		}
		resign(t, term)
		wantLeader(t, seen, nil)
	})
}

// TestASilentBackendIsNotTold: one that does not answer is an outage as well, and does not hold up the end.
func TestASilentBackendIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		term := campaign(t, p[0].election(nil))
		ctx, cancel := context.WithCancel(t.Context())
		seen := observe(ctx, p[1].election(nil))
		wantLeader(t, seen, term)
		p[1].backend.Freeze()
		s := <-seen
		if !errors.Is(s.err, driver.ErrUnavailable) || s.at > 15*time.Second {
			t.Errorf("seen is %+v", s)
		}
		pass(time.Second)
		before := time.Now()
		cancel()
		for range seen {
		}
		if took := time.Since(before); took > 200*time.Millisecond {
			t.Errorf("ended after %s", took)
		}
		p[1].backend.Thaw()
		resign(t, term)
	})
}

// TestAnObserverIsLeftBehind: when its consumer has broken off, or its context has ended, nothing is.
func TestAnObserverIsLeftBehind(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := processes(t, 1)[0]
			e := p.election(nil)
			term := campaign(t, e)
			for range e.Observe(t.Context()) {
				if frozen {
					p.backend.FailAll(bedrocktest.Fault{Delay: time.Minute})
				}
				break
			}
			p.backend.Up()
			p.backend.WaitLate()
			synctest.Wait()
			info, err := p.locks.Inspect(t.Context(), "job")
			if err != nil || info.Waiting != 0 {
				t.Errorf("%d wait, error %v", info.Waiting, err)
			}
			resign(t, term)
		})
	}
}

// TestTheEndOfAnObserverIsNotTold: that the client was stopped is; that its context has ended it knows.
func TestTheEndOfAnObserverIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ended := observe(ctx, p.election(nil))
		wantLeader(t, ended, nil)
		for s := range ended {
			t.Errorf("seen is %+v", s)
		}
		for range p.election(nil).Observe(ctx) {
			t.Error("its context had ended before")
		}

		seen := observe(t.Context(), p.election(nil))
		wantLeader(t, seen, nil)
		pass(time.Minute)
		stop(t, p.locks)
		s := <-seen
		wantErr(t, s.err, lock.ErrClosed)
		if s, more := <-seen; more {
			t.Errorf("seen is %+v", s)
		}
	})
}

// TestABackendThatCannotTellIsObserved: that is said, and the end.
func TestABackendThatCannotTellIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks := open(t, struct{ driver.Backend }{memlock.NewBackend(nil)}, nil)
		seen := observe(t.Context(), election.New(locks, "job", nil))
		s := <-seen
		wantErr(t, s.err, lock.ErrUnsupported)
		if s, more := <-seen; more {
			t.Errorf("seen is %+v", s)
		}
		term := campaign(t, election.New(locks, "job", nil))
		resign(t, term)
	})
}

// TestAnObserverThatCannotListenIsDeafForGood: it tries again, and looks meanwhile.
func TestAnObserverThatCannotListenIsDeafForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		p[1].backend.Fail(bedrocktest.Watch,
			bedrocktest.Fault{Before: driver.ErrUnavailable}, bedrocktest.Fault{Delay: time.Minute})
		term := campaign(t, p[0].election(nil))
		seen := observe(t.Context(), p[1].election(nil))
		wantLeader(t, seen, term)
		pass(time.Minute)
		before := time.Now()
		resign(t, term)
		wantLeader(t, seen, nil)
		if took := time.Since(before); took > 0 {
			t.Errorf("seen after %s", took)
		}
		p[1].backend.WaitLate()
	})
}

// TestAnOwnerThatLeadsAgainIsTakenForTheTermBefore: one that is not Bedrock's may have the same owner each time; its
// token tells.
func TestAnOwnerThatLeadsAgainIsTakenForTheTermBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		seen := observe(t.Context(), election.New(open(t, deaf{p[0].backend, p[0].backend}, nil), "job", nil))
		wantLeader(t, seen, nil)
		last := uint64(0)
		for range 3 {
			grant, err := p[1].backend.Acquire(t.Context(), driver.Request{
				Name: "job", Owner: "java:1", TTL: time.Hour, Tokens: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			s := <-seen
			if s.leader.Owner != "java:1" || s.leader.Token <= last || s.leader.Meta != nil {
				t.Errorf("seen is %+v after token %d", s, last)
			}
			last = s.leader.Token
			if _, err := p[1].backend.Release(t.Context(), grant); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSignalsHurryAnOutage: while a connection is broken, who listens is woken again and again.
func TestSignalsHurryAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &restless{Backend: bedrocktest.NewBackend(memlock.NewBackend(nil)), c: make(chan struct{})}
		e := election.New(open(t, backend, nil), "job", nil)
		backend.FailAll(bedrocktest.Fault{Before: driver.ErrUnavailable})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		seen := observe(ctx, e)
		for woken := 0; ctx.Err() == nil; woken++ {
			select {
			case backend.c <- struct{}{}:
			case <-ctx.Done():
			}
			pass(10 * time.Millisecond)
		}
		for range seen {
		}
		if n := backend.Calls(bedrocktest.Inspect); n > 150 {
			t.Errorf("%d requests in 100 s", n)
		}
	})
}

// restless is a backend that tells again and again.
type restless struct {
	*bedrocktest.Backend
	c chan struct{}
}

// Watch implements [driver.Waiter].
func (r *restless) Watch(context.Context, string, driver.Kind) (driver.Watch, error) {
	return signals(r.c), nil
}

type signals chan struct{}

// C implements [driver.Watch].
func (s signals) C() <-chan struct{} { return s }

// Count implements [driver.Watch].
func (s signals) Count() uint64 { return 0 }

// Close implements [driver.Watch].
func (s signals) Close() {}
