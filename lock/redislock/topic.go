package redislock

import (
	"context"
	"fmt"
	"time"

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

	// Guarded by hub.mu.
	watches    map[*watch]struct{}
	line       *line // where it is, or is about to be, subscribed
	subscribed bool
	heard      bool          // a release
	leaving    bool          // the end of the subscription is not confirmed yet
	ready      chan struct{} // closed while subscribed, and when the first try has failed
	err        error         // why it failed
}

func newTopic(h *hub, channel string, sharded bool) *topic {
	return &topic{
		hub: h, channel: channel, sharded: sharded, poke: make(chan struct{}, 1),
		watches: make(map[*watch]struct{}), ready: make(chan struct{}),
	}
}

// run is the life of a topic.
func (t *topic) run() {
	defer t.hub.work.Done()
	if !t.announce(t.subscribeFirst()) {
		return
	}
	for t.stay() {
		if !t.subscribeAgain() {
			return
		}
	}
}

// announce tells the watches if the first subscription has failed. The topic is
// gone then: the next watch makes a new one.
func (t *topic) announce(err error) (alive bool) {
	if err == nil {
		return true
	}
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	t.set(false)
	t.err = err
	close(t.ready)
	t.remove()
	return false
}

// set records whether the channel is subscribed. hub.mu is held.
func (t *topic) set(subscribed bool) {
	if t.subscribed == subscribed {
		return
	}
	t.subscribed = subscribed
	if subscribed {
		close(t.ready)
	} else {
		t.ready = make(chan struct{})
	}
	t.changed()
}

// remove takes the topic out of the hub. hub.mu is held.
func (t *topic) remove() {
	if t.hub.topics[t.channel] == t {
		delete(t.hub.topics, t.channel)
		t.hub.heard.Add(-1)
	}
	t.line = nil
}

// lost records that there is no subscription. hub.mu is held.
func (t *topic) lost() {
	t.leaving = false
	t.set(false)
	t.changed()
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
	t.move(l)
	if err := l.listener.Subscribe(ctx, t.channel, t.sharded); err != nil {
		return err
	}
	return t.confirmed(ctx, l)
}

func (t *topic) move(l *line) {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	t.line, t.leaving = l, false
	t.set(false)
}

// confirmed waits until the server has confirmed the subscription.
func (t *topic) confirmed(ctx context.Context, l *line) error {
	for {
		subscribed, on := t.state()
		if subscribed {
			return nil
		}
		if on != l {
			return fmt.Errorf("%w: the connection for subscriptions has ended", driver.ErrUnavailable)
		}
		select {
		case <-t.poke:
		case <-ctx.Done():
			l.abandon() // a connection that does not answer serves nobody
			return fmt.Errorf("%w: no subscription within %s: %w", driver.ErrUnavailable, confirmTime, ctx.Err())
		}
	}
}

func (t *topic) state() (subscribed bool, on *line) {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	return t.subscribed, t.line
}

// stay waits while the channel is subscribed. It reports true when the
// subscription was lost, false when the topic has ended because nobody watches.
func (t *topic) stay() (lost bool) {
	idle := time.NewTimer(linger)
	defer idle.Stop()
	for {
		subscribed, watched := t.look()
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
			if t.end() {
				return false
			}
		case <-t.hub.background.Done():
			t.forget()
			return false
		}
	}
}

// lingers returns for how long the subscription outlives its last watch.
func (t *topic) lingers() time.Duration {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if t.heard {
		return linger
	}
	return 0
}

func (t *topic) look() (subscribed, watched bool) {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	return t.subscribed, len(t.watches) > 0
}

// end unsubscribes, unless somebody has come. The topic stays known until that
// is confirmed: the subscription of a new one must not overtake it.
func (t *topic) end() (ended bool) {
	l := t.startLeaving()
	if l == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(t.hub.background, confirmTime)
	defer cancel()
	if l.listener.Unsubscribe(ctx, t.channel, t.sharded) != nil {
		return t.forget()
	}
	for t.isLeaving() {
		select {
		case <-t.poke:
		case <-ctx.Done():
			return t.forget()
		}
	}
	return t.forget()
}

// startLeaving makes watches to come wait for a new subscription. It returns
// nil when there is somebody to stay for, or nothing to leave.
func (t *topic) startLeaving() *line {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if len(t.watches) > 0 || !t.subscribed {
		return nil
	}
	t.leaving = true
	t.set(false)
	return t.line
}

func (t *topic) isLeaving() bool {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	return t.leaving
}

// forget takes the topic down unless somebody watches it.
func (t *topic) forget() bool {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if len(t.watches) > 0 && t.hub.background.Err() == nil {
		return false
	}
	t.remove()
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
		if !t.rest(pause) {
			t.forget()
			return false
		}
		if _, watched := t.look(); !watched && t.forget() {
			return false
		}
	}
}

func (t *topic) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.hub.background.Done():
		return false
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
	for w := range t.watches {
		w.wake()
	}
}

// failure returns why the first subscription failed.
func (t *topic) failure() error {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	return t.err
}

// leave takes a watch out.
func (t *topic) leave(w *watch) {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	delete(t.watches, w)
	if len(t.watches) == 0 {
		t.changed()
	}
}

// changed makes the topic look at itself again.
func (t *topic) changed() {
	select {
	case t.poke <- struct{}{}:
	default:
	}
}
