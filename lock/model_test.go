package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// machine compares two clients of one store with a model of one lock: who has
// it, and until when.
type machine struct {
	t       *testing.T
	clients [2]*lock.Client
	lines   [2]*faulty

	holder  int           // which client holds; -1: none
	leases  []*lock.Lease // of the holder, outermost first
	outages [2]outage     // the last of each client's line
	token   uint64
}

// outage is when a line was down.
type outage struct {
	began, ended time.Time
	lasts        bool
}

// longestRetry is how long a line has to be up for a renewal that failed to be tried again.
const longestRetry = 1500 * time.Millisecond

// resume begins an outage, or goes on with one that was over for too short a time to renew.
func (o *outage) resume() {
	if time.Since(o.ended) > longestRetry {
		o.began = time.Now()
	}
	o.lasts = true
}

func (o *outage) heal() {
	if o.lasts {
		o.ended, o.lasts = time.Now(), false
	}
}

// cost tells whether a lease that ran out less than a second ago may have run out for it.
func (o *outage) cost() bool {
	recent := o.lasts || time.Since(o.ended) <= longestRetry+time.Second
	return recent && time.Since(o.began) >= 14*time.Second
}

// step is one thing that may happen, and whether it can now.
type step struct {
	name string
	do   func(*machine, *rapid.T)
}

// Whatever happens in whatever order, one at a time: the lock is had by one, it
// is free when nobody has it, tokens rise, and a holder that is cut off knows of
// its loss when another one takes over.
func TestRandomSequencesAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]step{
			{"try", (*machine).try},
			{"enter", (*machine).enter},
			{"unlock", (*machine).unlock},
			{"force", (*machine).force},
			{"cut", (*machine).cutOff},
			{"heal", (*machine).heal},
			{"pass", (*machine).pass},
		}), 1, 40).Draw(rt, "steps")
		virtual(t, func(t *testing.T) {
			m := newMachine(t)
			for _, s := range steps {
				s.do(m, rt)
				synctest.Wait()
				m.check()
			}
			m.heal(rt)
		})
	})
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, holder: -1}
	store := memlock.NewStore(nil)
	for i := range m.clients {
		m.lines[i] = newFaulty(store)
		m.clients[i] = open(t, m.lines[i], nil)
	}
	return m
}

func (m *machine) try(rt *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(rt, "client")
	lease, err := m.clients[i].Mutex("a", nil).TryLock(m.t.Context())
	switch {
	case err == nil && m.holder != -1:
		m.t.Errorf("client %d got a lock that client %d has", i, m.holder)
	case err == nil:
		if lease.Token() <= m.token {
			m.t.Errorf("token %d after %d", lease.Token(), m.token)
		}
		m.holder, m.leases, m.token = i, []*lock.Lease{lease}, lease.Token()
	case errors.Is(err, lock.ErrHeld) || m.outages[i].lasts:
	default:
		m.t.Error(err)
	}
}

func (m *machine) enter(*rapid.T) {
	if m.holder == -1 {
		return
	}
	ctx := m.leases[len(m.leases)-1].Context()
	m.leases = append(m.leases, mustLockIn(m.t, ctx, m.clients[m.holder].Mutex("a", nil)))
}

func (m *machine) unlock(*rapid.T) {
	if m.holder == -1 {
		return
	}
	last := len(m.leases) - 1
	err := m.leases[last].Unlock(context.Background())
	if err != nil && !m.outages[m.holder].lasts {
		m.t.Error(err)
	}
	if m.leases = m.leases[:last]; last == 0 {
		m.holder = -1
	}
}

// force takes the lock away, and waits until its holder knows.
func (m *machine) force(rt *rapid.T) {
	if m.holder == -1 {
		return
	}
	m.heal(rt)
	_, err := m.clients[0].ForceRelease(m.t.Context(), "a")
	wantErr(m.t, err, nil)
	for _, lease := range m.leases {
		<-lease.Context().Done()
	}
	m.lose()
}

func (m *machine) cutOff(rt *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(rt, "client")
	if !m.outages[i].lasts {
		m.lines[i].fail(errDown)
		m.outages[i].resume()
	}
}

func (m *machine) heal(*rapid.T) {
	for i := range m.lines {
		m.lines[i].heal()
		m.outages[i].heal()
	}
}

// pass lets time pass, and finds out whether the holder has lost the lock for
// lack of renewal.
func (m *machine) pass(rt *rapid.T) {
	for range rapid.IntRange(1, 40).Draw(rt, "seconds") {
		time.Sleep(time.Second)
		if m.holder == -1 || m.leases[0].State() != lock.Lost {
			continue
		}
		if !m.outages[m.holder].cost() {
			m.t.Error("lost although it could be renewed")
		}
		m.lose()
	}
}

// lose checks that every lease of the holder knows of the loss.
func (m *machine) lose() {
	for _, lease := range m.leases {
		wantErr(m.t, lease.Err(), lock.ErrLost)
		wantCause(m.t, lease.Context(), lock.ErrLost)
		wantErr(m.t, lease.Unlock(context.Background()), lock.ErrLost)
	}
	m.holder, m.leases = -1, nil
}

// check compares the holder's leases with the model.
func (m *machine) check() {
	m.t.Helper()
	for _, lease := range m.leases {
		if err := lease.Err(); err != nil {
			m.t.Errorf("client %d: %v", m.holder, err)
		}
		wantEqual(m.t, "token", lease.Token(), m.token)
	}
}
