package redislock

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	// linger is for how long a channel stays subscribed after its last watch if
	// releases were heard: processes that pass a lock to and fro need no
	// subscription each time. Who has waited in vain does not count as waiting.
	linger = time.Second
	// confirmTime bounds the wait for the server's confirmation.
	confirmTime = 3 * time.Second
	// The pause before the subscription is tried again, from the first failure
	// to the longest.
	firstRetry   = 20 * time.Millisecond
	longestRetry = time.Second
	// deafPause is how often who watches is woken, to ask, while nothing is heard.
	deafPause = 250 * time.Millisecond
)

// topic keeps one channel subscribed while somebody watches it.
type topic struct {
	hub     *hub
	channel string
	sharded bool
	poke    chan struct{} // something below has changed
	ofLock  bool          // not of a client, or of one who waits
	up      atomic.Bool   // as subscribed
	down    atomic.Bool   // it has ended

	// Guarded by hub.mu.
	ears       map[ear]struct{}
	line       *line // where it is, or is about to be, subscribed
	subscribed bool
	confirmed  bool          // it was subscribed at least once: somebody may rely on it
	heard      bool          // a release
	looking    bool          // its watches are to be woken, for a holder that may tell nobody of its release
	looks      int           // how often they were since a release was heard of
	leaving    bool          // the end of the subscription is not confirmed yet
	ready      chan struct{} // closed while subscribed, and when the first try has failed
	err        error         // why it failed
}

func newTopic(h *hub, channel string, sharded, ofLock bool) *topic {
	return &topic{
		hub: h, channel: channel, sharded: sharded, poke: make(chan struct{}, 1),
		ears: make(map[ear]struct{}), ready: make(chan struct{}), ofLock: ofLock,
	}
}

// run is the life of a topic.
func (t *topic) run() {
	defer t.hub.work.Done()
	if !t.tellFirstFailure(t.subscribeFirst()) {
		return
	}
	for t.staySubscribed() {
		if !t.subscribeAgain() {
			return
		}
	}
}

// tellFirstFailure tells the watches if the first subscription has failed. The topic is
// gone then: the next watch makes a new one. One that was confirmed first is lost like any
// other, for there are watches that were told so.
func (t *topic) tellFirstFailure(err error) (alive bool) {
	if err == nil {
		return true
	}
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if t.confirmed {
		return true
	}
	t.err = err
	close(t.ready)
	t.takeDown()
	return false
}

// setSubscribed records whether the channel is subscribed. hub.mu is held.
func (t *topic) setSubscribed(subscribed bool) {
	if t.subscribed == subscribed {
		return
	}
	t.subscribed = subscribed
	t.up.Store(subscribed)
	if subscribed {
		t.confirmed = true
		close(t.ready)
	} else {
		t.ready = make(chan struct{})
	}
	t.pokeRun()
}

// takeDown takes the topic out of the hub. hub.mu is held.
func (t *topic) takeDown() {
	if t.hub.topics[t.channel] == t {
		delete(t.hub.topics, t.channel)
		if t.ofLock {
			t.hub.heard.Add(-1)
		}
	}
	t.down.Store(true)
	t.line = nil
}

// subscriptionLost records that there is no subscription. hub.mu is held.
func (t *topic) subscriptionLost() {
	t.leaving = false
	t.setSubscribed(false)
	t.pokeRun()
}

// subscribeFirst looks for the channel's server anew if it is not where it was: nobody
// may have listened when it moved, and so have found that out.
func (t *topic) subscribeFirst() error {
	err := t.subscribe(false)
	if err != nil && t.sharded && t.hub.background.Err() == nil {
		return t.subscribe(true)
	}
	return err
}

// subscribe makes one try. With again, what is known of the channel's server
// may be wrong.
func (t *topic) subscribe(again bool) error {
	ctx, cancel := context.WithTimeout(t.hub.background, confirmTime)
	defer cancel()
	node := ""
	if t.sharded {
		var err error
		if node, err = t.hub.conn.Owner(ctx, t.channel, again); err != nil {
			return err
		}
	}
	l, err := t.hub.lineTo(ctx, node)
	if err != nil {
		return err
	}
	t.moveTo(l)
	if err := l.listener.Subscribe(ctx, t.channel, t.sharded); err != nil {
		return err
	}
	return t.awaitConfirmation(ctx, l)
}

func (t *topic) moveTo(l *line) {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	t.line, t.leaving = l, false
	t.setSubscribed(false)
}

// awaitConfirmation waits until the server has confirmed the subscription.
func (t *topic) awaitConfirmation(ctx context.Context, l *line) error {
	for {
		subscribed, on := t.state()
		if subscribed {
			return nil
		}
		if on != l {
			return l.whyEnded()
		}
		select {
		case <-t.poke:
		case <-ctx.Done():
			l.takeDown() // a connection that does not answer serves nobody
			return fmt.Errorf("%w: no subscription within %s: %w", driver.ErrUnavailable, confirmTime, ctx.Err())
		}
	}
}

func (t *topic) state() (subscribed bool, on *line) {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	return t.subscribed, t.line
}

// staySubscribed waits while the channel is subscribed. It reports true when the
// subscription was lost, false when the topic has ended because nobody watches.
func (t *topic) staySubscribed() (lost bool) {
	idle := time.NewTimer(linger)
	defer idle.Stop()
	for {
		subscribed, watched := t.watchState()
		if !subscribed {
			return true
		}
		var end <-chan time.Time
		if !watched {
			idle.Reset(t.lingers())
			end = idle.C
		}
		select {
		case <-t.poke:
		case <-end:
			if t.unsubscribe() {
				return false
			}
		case <-t.hub.background.Done():
			t.takeDownUnwatched()
			return false
		}
	}
}

// lingers returns for how long the subscription outlives its last watch.
func (t *topic) lingers() time.Duration {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if t.heard && t.ofLock {
		return linger
	}
	return 0
}

func (t *topic) watchState() (subscribed, watched bool) {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	return t.subscribed, len(t.ears) > 0
}

// unsubscribe ends the subscription, unless somebody has come. The topic stays known until that
// is confirmed: the subscription of a new one must not overtake it.
func (t *topic) unsubscribe() (ended bool) {
	l := t.startUnsubscribing()
	if l == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(t.hub.background, confirmTime)
	defer cancel()
	if l.listener.Unsubscribe(ctx, t.channel, t.sharded) != nil {
		return t.takeDownUnwatched()
	}
	for t.isUnsubscribing() {
		select {
		case <-t.poke:
		case <-ctx.Done():
			return t.takeDownUnwatched()
		}
	}
	return t.takeDownUnwatched()
}

// startUnsubscribing makes watches to come wait for a new subscription. It returns
// nil when there is somebody to stay for, or nothing to leave.
func (t *topic) startUnsubscribing() *line {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if len(t.ears) > 0 || !t.subscribed {
		return nil
	}
	t.leaving = true
	t.setSubscribed(false)
	return t.line
}

func (t *topic) isUnsubscribing() bool {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	return t.leaving
}

// takeDownUnwatched takes the topic down unless somebody watches it.
func (t *topic) takeDownUnwatched() bool {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if len(t.ears) > 0 && t.hub.background.Err() == nil {
		return false
	}
	t.takeDown()
	return true
}

// subscribeAgain tries until it succeeds, and then wakes every watch, because
// a release may have been missed. It wakes them again and again meanwhile, so
// that they poll. It reports false when the topic has ended.
func (t *topic) subscribeAgain() bool {
	defer t.wakeAll()
	defer t.wakeMeanwhile()()
	for pause := firstRetry; ; pause = min(2*pause, longestRetry) {
		if t.subscribe(true) == nil {
			return true
		}
		if !sleep.For(t.hub.background, pause) {
			t.takeDownUnwatched()
			return false
		}
		if _, watched := t.watchState(); !watched && t.takeDownUnwatched() {
			return false
		}
	}
}

// wakeMeanwhile wakes the watches every so often until stop is called. A try to
// subscribe can take seconds.
func (t *topic) wakeMeanwhile() (stop func()) {
	over := make(chan struct{})
	t.hub.work.Go(func() {
		tick := time.NewTicker(deafPause)
		defer tick.Stop()
		for {
			t.wakeAll()
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
	})
	return func() { close(over) }
}

func (t *topic) wakeAll() {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	for e := range t.ears {
		e.miss()
	}
}

// failure returns why the first subscription failed.
func (t *topic) failure() error {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	return t.err
}

// drop takes an ear out.
func (t *topic) drop(e ear) {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	delete(t.ears, e)
	if len(t.ears) == 0 {
		t.pokeRun()
	}
}

// pokeRun makes the topic look at itself again.
func (t *topic) pokeRun() {
	select {
	case t.poke <- struct{}{}:
	default:
	}
}
