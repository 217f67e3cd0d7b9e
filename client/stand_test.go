package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// heir is a client of a server past the front that stands in line.
type heir struct {
	driver.Backend
	driver.Successor

	told chan driver.Grant
}

func newHeir(t *testing.T, url string) *heir {
	t.Helper()
	b := dial(t, url, nil).Backend()
	t.Cleanup(func() { _ = b.Close() })
	h := &heir{b, b.(driver.Successor), make(chan driver.Grant, 100)}
	h.Inherit(func(g driver.Grant) { h.told <- g })
	return h
}

func exclusive(owner string) driver.Request {
	return driver.Request{Name: "a", Owner: owner, TTL: time.Minute, Tokens: 4}
}

// refused returns the refusal of a request that may stand.
func (h *heir) refused(t *testing.T, owner string) *driver.HeldError {
	t.Helper()
	_, err := h.Stand(t.Context(), exclusive(owner))
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		t.Fatalf("want a refusal, got %v", err)
	}
	return held
}

// stands asks until a request stands: whoever comes first does not attend yet.
func (h *heir) stands(t *testing.T, owner string) *driver.HeldError {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); ; <-tick.C {
		if held := h.refused(t, owner); held.Claim > 0 {
			return held
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not stand", owner)
		}
	}
}

// granted returns what is told of a grant, apart from names that are to be asked for.
func (h *heir) granted(t *testing.T) driver.Grant {
	t.Helper()
	for late := time.After(10 * time.Second); ; {
		select {
		case g := <-h.told:
			if g.Owner != "" {
				return g
			}
		case <-late:
			t.Fatal("nothing was granted")
		}
	}
}

func (h *heir) release(t *testing.T, owner string) error {
	t.Helper()
	_, err := h.Release(t.Context(), driver.Grant{Name: "a", Owner: owner})
	return err
}

// TestOneClientOvertakesAnother: who stands at a server has the lock in order, with the tokens it was promised, and
// gives it back without a handle.
func TestOneClientOvertakesAnother(t *testing.T) {
	url := serve(t, serving(t, memlock.NewBackend(nil))).url()
	first, me, you := newHeir(t, url), newHeir(t, url), newHeir(t, url)
	takeAs(t, first, "first:1")
	mine, yours := me.stands(t, "me:1"), you.stands(t, "you:1")
	if mine.Claim != 5*time.Second || mine.Token == 0 || yours.Token <= mine.Token {
		t.Errorf("refused by %+v and %+v", mine, yours)
	}
	if err := first.release(t, "first:1"); err != nil {
		t.Fatal(err)
	}
	got := me.granted(t)
	want := driver.Grant{Name: "a", Owner: "me:1", TTL: time.Minute, Token: mine.Token, Tokens: 4}
	if got != want {
		t.Errorf("granted %+v, want %+v", got, want)
	}
	if err := me.release(t, "me:1"); err != nil {
		t.Fatal(err)
	}
	if got := you.granted(t); got.Token != yours.Token {
		t.Errorf("granted %+v, want token %d", got, yours.Token)
	}
}

// TestALockIsAskedForThatIsPassedOn, by clients of the front: most of the time it comes unasked.
func TestALockIsAskedForThatIsPassedOn(t *testing.T) {
	url := serve(t, serving(t, memlock.NewBackend(nil))).url()
	var (
		passed atomic.Int32
		before atomic.Uint64
		all    sync.WaitGroup
	)
	const times = 60
	for range 2 {
		h := newHeir(t, url)
		c, err := lock.New(counting{h.Backend, h.Backend.(driver.Waiter), h.Successor, &passed}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Stop(context.Background()) })
		all.Go(func() {
			for range times {
				lease, err := c.Mutex("a", nil).Lock(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if last := before.Swap(lease.Token()); lease.Token() <= last {
					t.Errorf("token %d after %d", lease.Token(), last)
				}
				<-time.After(2 * time.Millisecond) // so that the other one comes meanwhile
				if err := lease.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := passed.Load(); n < times/2 {
		t.Errorf("%d of %d were passed on", n, 2*times)
	}
}

// counting counts what is passed on.
type counting struct {
	driver.Backend
	driver.Waiter
	driver.Successor

	passed *atomic.Int32
}

// Inherit implements [driver.Successor].
func (c counting) Inherit(tell func(driver.Grant)) {
	c.Successor.Inherit(func(g driver.Grant) {
		if g.Tokens > 0 {
			c.passed.Add(1)
		}
		tell(g)
	})
}

// TestWhoGivesUpStandsOn: a release of its owner ends it, and says that it had nothing.
func TestWhoGivesUpStandsOn(t *testing.T) {
	url := serve(t, serving(t, memlock.NewBackend(nil))).url()
	first, me, you := newHeir(t, url), newHeir(t, url), newHeir(t, url)
	takeAs(t, first, "first:1")
	me.stands(t, "me:1")
	you.stands(t, "you:1")
	if err := me.release(t, "me:1"); !errors.Is(err, driver.ErrLost) {
		t.Errorf("released: %v", err)
	}
	if err := first.release(t, "first:1"); err != nil {
		t.Fatal(err)
	}
	if got := you.granted(t); got.Owner != "you:1" {
		t.Errorf("granted %+v", got)
	}
}

// TestAStreamThatBreaksLosesAGrant: who stands is told to ask, at once and when there is a stream again, and what was
// granted meanwhile is had by that.
func TestAStreamThatBreaksLosesAGrant(t *testing.T) {
	store := memlock.NewStore(nil)
	site := serve(t, serving(t, memlock.NewBackend(store)))
	way, err := chaos.New(site.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = way.Close() })
	first, me := newHeir(t, site.url()), newHeir(t, "http://"+way.Addr())
	takeAs(t, first, "first:1")
	stood := me.stands(t, "me:1")
	way.Cut()
	wantAsk(t, me)
	way.Heal()
	wantAsk(t, me)
	if again := me.stands(t, "me:1"); again.Token != stood.Token {
		t.Errorf("its tokens begin at %d, and did at %d", again.Token, stood.Token)
	}
	if err := first.release(t, "first:1"); err != nil {
		t.Fatal(err)
	}
	if g := me.granted(t); g.Token != stood.Token {
		t.Errorf("granted %+v, want token %d", g, stood.Token)
	}
}

func wantAsk(t *testing.T, h *heir) {
	t.Helper()
	select {
	case g := <-h.told:
		if g != (driver.Grant{Name: "a"}) {
			t.Errorf("told %+v", g)
		}
	case <-time.After(10 * time.Second):
		t.Error("it is not told to ask")
	}
}

// older is a server that knows nothing of standing in line: it ignores the word.
func older(t *testing.T, inner http.Handler) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/Acquire") {
			body, err := io.ReadAll(r.Body)
			m := &bedrockv1.AcquireRequest{}
			if err == nil {
				err = proto.Unmarshal(body, m)
			}
			if err != nil {
				t.Error(err)
			}
			m.Stand = false
			body, _ = proto.Marshal(m)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		inner.ServeHTTP(w, r)
	})
}

// TestAnOlderServerIsTakenAtItsWord: it lets nobody stand, and says nothing of it. All is as it was with that one.
func TestAnOlderServerIsTakenAtItsWord(t *testing.T) {
	url := serve(t, older(t, serving(t, memlock.NewBackend(nil)))).url()
	me := newHeir(t, url)
	c := holder(t, url)
	lease := take(t, c, "a")
	for range 20 { // until it attends
		if held := me.refused(t, "me:1"); held.Claim != 0 {
			t.Fatalf("it stands: %+v", held)
		}
		<-time.After(5 * time.Millisecond)
	}
	done := make(chan error, 1)
	other := holder(t, url)
	go func() {
		lease, err := other.Mutex("a", &lock.MutexOptions{Wait: 10 * time.Second}).Lock(t.Context())
		if err == nil {
			err = lease.Unlock(t.Context())
		}
		done <- err
	}()
	<-time.After(50 * time.Millisecond)
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(me.told) > 0 {
		t.Errorf("told of %+v", <-me.told)
	}
}

// TestWhoAttendsElsewhereStands: its calls reach another server than its stream, which could not tell it.
func TestWhoAttendsElsewhereStands(t *testing.T) {
	store := memlock.NewStore(nil)
	here, there := serving(t, memlock.NewBackend(store)), serving(t, memlock.NewBackend(store))
	me := newHeir(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/Attend") {
			there.ServeHTTP(w, r)
			return
		}
		here.ServeHTTP(w, r)
	})).url())
	first := newHeir(t, serve(t, here).url())
	takeAs(t, first, "first:1")
	for range 20 { // until it attends
		if held := me.refused(t, "me:1"); held.Claim != 0 {
			t.Fatalf("it stands: %+v", held)
		}
		<-time.After(5 * time.Millisecond)
	}
	if err := first.release(t, "first:1"); err != nil {
		t.Fatal(err)
	}
	if _, err := me.Stand(t.Context(), exclusive("me:1")); err != nil {
		t.Errorf("the lock is free: %v", err)
	}
}

// TestWhoHasNotAttendedIsSentToStand: what it is granted would be told to nobody here; nor does a fair lock's line wait
// for what others do.
func TestWhoHasNotAttendedIsSentToStand(t *testing.T) {
	url := serve(t, serving(t, memlock.NewBackend(nil))).url()
	first, me := newHeir(t, url), newHeir(t, url)
	takeAs(t, first, "first:1")
	me.stands(t, "me:1")
	if held := me.refused(t, "you:1"); held.Claim != 0 {
		t.Errorf("the request of another client stands: %+v", held)
	}
	fair := exclusive("me:2")
	fair.Fair = true
	_, err := me.Stand(t.Context(), fair)
	if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.Claim != 0 {
		t.Errorf("refused by %+v (%v)", held, err)
	}
}

// mute is a store that passes on what stands, and tells nobody.
type mute struct {
	driver.Backend
	driver.Attender

	asked, attended atomic.Int32
}

// Stand implements [driver.Successor].
func (m *mute) Stand(_ context.Context, req driver.Request) (driver.Grant, error) {
	if m.asked.Add(1) == 1 {
		return driver.Grant{}, &driver.HeldError{TTL: time.Minute, Claim: 5 * time.Second, Token: 7}
	}
	return driver.Grant{Name: req.Name, Owner: req.Owner, TTL: req.TTL, Token: 7, Tokens: 4}, nil
}

// Inherit implements [driver.Successor].
func (*mute) Inherit(func(driver.Grant)) {}

// Attend implements [driver.Attender].
func (m *mute) Attend(ctx context.Context, client string, tell func(driver.Message)) (func(), error) {
	m.attended.Add(1)
	return m.Attender.Attend(ctx, client, tell)
}

// TestASilentStreamIsBelieved: a grant is found by asking of which it should have told. It is open, and may bring
// nothing for as long as it is.
func TestASilentStreamIsBelieved(t *testing.T) {
	memory := memlock.NewBackend(nil)
	store := &mute{Backend: memory, Attender: memory.(driver.Attender)}
	me := newHeir(t, serve(t, serving(t, store)).url())
	takeAs(t, me, "me:1")
	awaitCount(t, &store.attended, 1)
	for store.asked.Load() < 2 { // until it attends, nobody is asked to let it stand
		_, _ = me.Stand(t.Context(), exclusive("me:2"))
	}
	awaitCount(t, &store.attended, 2)
}

func awaitCount(t *testing.T, n *atomic.Int32, want int32) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); n.Load() < want; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%d times, want %d", n.Load(), want)
		}
	}
}
