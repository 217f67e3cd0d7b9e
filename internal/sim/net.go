package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// What becomes of messages that are not answered.
var (
	// ErrNotSent means that the connection was refused: nothing has happened.
	ErrNotSent = errors.New("connection refused")
	// ErrNoAnswer means that the connection broke or stayed silent: nobody knows.
	ErrNoAnswer = errors.New("no answer")
)

// Net is the way between clients and a server.
type Net struct {
	seed     Seed
	report   *Report
	troubles []Trouble
	end      time.Duration // when all troubles are over
	way      sync.WaitGroup

	mu    sync.Mutex
	count map[message]uint64
}

// message is what sets messages apart: those that are equal are counted.
type message struct {
	link int
	text string
}

// NewNet returns a network with these troubles.
func NewNet(s Seed, r *Report, troubles []Trouble) *Net {
	n := &Net{seed: s.Named("net"), report: r, troubles: troubles, count: make(map[message]uint64)}
	for _, t := range troubles {
		n.end = max(n.end, t.To)
	}
	return n
}

// Well reports whether there was no trouble on a link in the time since.
func (n *Net) Well(link int, since time.Duration) bool {
	for _, t := range n.troubles {
		if (t.Link == link || t.Link == Everybody || link == Everybody) && t.To > since && t.From < n.report.Now() {
			return false
		}
	}
	return true
}

// Lossless reports whether there was nothing worse than slowness on any link.
func (n *Net) Lossless() bool {
	return !slices.ContainsFunc(n.troubles, func(t Trouble) bool { return t.Ill != Slow })
}

// Drain waits for messages that are still on their way.
func (n *Net) Drain() { n.way.Wait() }

// Link is the way of one client to the server.
type Link struct {
	*Net
	ID   int
	Near time.Duration // the shortest way there, and back
	Far  time.Duration // the longest
	// Patience is how long the client's library waits for an answer.
	Patience time.Duration
	// Dull is the text of requests that are too many to be told of.
	Dull string
}

// RoundTrip is how long a message and its answer may take on a good day.
func (l *Link) RoundTrip() time.Duration { return 2 * l.Far }

// number counts messages of equal text.
func (l *Link) number(text string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := message{l.ID, text}
	l.count[m]++
	return l.count[m]
}

// fate is what becomes of one message.
type fate struct {
	there, back time.Duration
	lost, mute  bool
	refused     bool
	broken      bool // the caller is told at once that there will be no answer
	again       time.Duration
}

// fate draws it.
func (l *Link) fate(s Seed) fate {
	f := fate{there: s.At(1).Between(l.Near, l.Far), back: s.At(2).Between(l.Near, l.Far)}
	now := l.report.Now()
	for i := range l.troubles {
		t := &l.troubles[i]
		if !t.befalls(l.ID, now, s.At(3, uint64(i))) {
			continue
		}
		switch t.Ill {
		case Cut:
			f.lost = true
		case Mute:
			f.mute = true
		case Refusing:
			f.refused = true
		case Breaking:
			f.broken, f.lost, f.mute = true, s.At(4).Chance(0.5), true
		case Slow:
			f.there += s.At(5).Between(0, time.Second)
		case Twice:
			f.again = s.At(6).Between(l.Near, 2*time.Second)
		case Frozen: // when it arrives
		}
	}
	return f
}

// thaw waits until the server is not frozen.
func (l *Link) thaw(s Seed) {
	for i := range l.troubles {
		t := &l.troubles[i]
		if now := l.report.Now(); t.Ill == Frozen && t.befalls(l.ID, now, s.At(3, uint64(i))) {
			time.Sleep(t.To - now + s.At(7).Between(0, time.Millisecond))
		}
	}
}

// Push is how long a message from the server takes that nobody has asked for. One
// that is lost is made up for when the connection stands again.
func (l *Link) Push(text string, number uint64) time.Duration {
	s := l.seed.At(uint64(l.ID)).Named("push " + text).At(number)
	d, now := s.At(1).Between(l.Near, l.Far), l.report.Now()
	for i := range l.troubles {
		t := &l.troubles[i]
		switch {
		case !t.befalls(l.ID, now, s.At(3, uint64(i))):
		case t.Ill == Slow:
			d += s.At(2).Between(0, time.Second)
		case t.Ill != Twice && t.Ill != Refusing:
			d = max(d, t.To-now+s.At(4).Between(l.Near, 2*l.Far+time.Millisecond))
		}
	}
	return d
}

// Call sends a request, of which text says what it is about, and waits for the
// answer of serve, which runs on the server, perhaps long after the caller has
// gone, perhaps twice, perhaps not at all. The error of a caller who has gone is a
// [*LeftError].
func Call[T any](ctx context.Context, l *Link, text string, serve func() T) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, fmt.Errorf("%w: %w", ErrNotSent, ctx.Err())
	}
	s := l.seed.At(uint64(l.ID)).Named(text).At(l.number(text))
	t := &trip[T]{
		link: l, seed: s, fate: l.fate(s), text: text, serve: serve,
		answers: make(chan T, 1), failures: make(chan error, 1), ended: make(chan struct{}),
	}
	if text != l.Dull {
		l.report.Trace("link %d: %s: sent %s", l.ID, text, t.fate)
	}
	l.way.Go(t.travel)
	patience := time.AfterFunc(l.Patience+s.At(8).Between(0, time.Millisecond), t.endOnce)
	select {
	case a := <-t.answers:
		patience.Stop()
		return a, nil
	case err := <-t.failures:
		patience.Stop()
		return none, err
	case <-t.ended:
		return none, fmt.Errorf("%w in %s", ErrNoAnswer, l.Patience)
	case <-ctx.Done():
		Apart(s)
		return none, &LeftError{ctx.Err(), t.ended}
	}
}

// Apart takes a moment of its own for something that was woken together with others,
// as all are that have the same deadline: what they do next they do one by one.
func Apart(s Seed) { time.Sleep(s.Named("apart").Between(1, time.Microsecond)) }

// LeftError is the error of a call that its caller has left behind. It matches
// [ErrNoAnswer].
type LeftError struct {
	Err error
	// Ended is closed when the call has been answered or given up.
	Ended <-chan struct{}
}

// Error implements error.
func (e *LeftError) Error() string { return "left behind: " + e.Err.Error() }

// Is reports whether target is [ErrNoAnswer].
func (e *LeftError) Is(target error) bool { return target == ErrNoAnswer }

// Unwrap returns why the caller has left.
func (e *LeftError) Unwrap() error { return e.Err }

// trip is a message on its way, with or without a caller who waits for it.
type trip[T any] struct {
	link  *Link
	seed  Seed
	fate  fate
	text  string
	serve func() T

	answers  chan T
	failures chan error
	ended    chan struct{} // closed when nothing will come any more
	once     sync.Once
}

func (t *trip[T]) endOnce() { t.once.Do(func() { close(t.ended) }) }

func (t *trip[T]) travel() {
	time.Sleep(t.fate.there)
	switch {
	case t.fate.refused:
		t.endWith(ErrNotSent)
		return
	case !t.fate.lost:
		t.arrive()
	}
	if t.fate.broken {
		t.endWith(ErrNoAnswer)
	}
}

func (t *trip[T]) endWith(err error) {
	t.failures <- err
	t.endOnce()
}

// arrive is the server's part.
func (t *trip[T]) arrive() {
	t.link.thaw(t.seed)
	a := t.serve()
	if t.fate.again > 0 {
		t.link.way.Go(func() {
			time.Sleep(t.fate.again)
			t.link.report.Trace("link %d: %s: a second copy arrives", t.link.ID, t.text)
			t.serve()
		})
	}
	time.Sleep(t.fate.back)
	if !t.fate.mute {
		t.answers <- a
		t.endOnce()
	}
}

func (f fate) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "(%s, %s)", f.there, f.back)
	for _, w := range []struct {
		is   bool
		word string
	}{{f.lost, " lost"}, {f.mute, " answer lost"}, {f.refused, " refused"}, {f.broken, " broken"}} {
		if w.is {
			text.WriteString(w.word)
		}
	}
	if f.again > 0 {
		fmt.Fprintf(&text, " again after %s", f.again)
	}
	return text.String()
}
