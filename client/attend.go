package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// hearing is how a backend hears what others do to its grants, and what it is granted: by one stream, for the client
// that all of its owners are of.
type hearing struct {
	tell   func(driver.Message) // nil where nobody wants to be told
	give   func(driver.Grant)   // nil where nobody stands in line
	begin  sync.Once
	stream atomic.Pointer[stream] // nil while nothing can be heard
}

// stream is one that has begun.
type stream struct {
	client string
	end    context.CancelFunc
	awaits atomic.Bool // something that should be here by now
}

// endIfSilent ends a stream that has not brought what it should have.
func (s *stream) endIfSilent() {
	if s.awaits.Load() {
		s.end()
	}
}

// hearsOf reports whether it would be heard what a request is granted unasked that may stand in line.
func (h *hearing) hearsOf(req *driver.Request) bool {
	s := h.stream.Load()
	return s != nil && h.give != nil && req.Mode == driver.Exclusive && !req.Fair && !req.IsVote() &&
		driver.ClientOf(req.Owner) == s.client
}

// The longest pauses between two streams that tell nothing.
const (
	attendAgain = 5 * time.Second
	// attendLater is for a server that has no such stream: by then it may be a newer one.
	attendLater = time.Minute
)

// Notify implements [driver.Notifier].
func (b *backend) Notify(tell func(driver.Message)) { b.hearing.tell = tell }

// attend begins to listen for what is told to the client of an owner, unless it does. Nobody waits for that: until then
// what others do is found at the next renewal, and who asks is told that nobody hears.
func (b *backend) attend(owner string) {
	if b.hearing.tell == nil && b.hearing.give == nil || b.life.Err() != nil {
		return
	}
	b.hearing.begin.Do(func() {
		client := driver.ClientOf(owner)
		b.work.Go(func() { b.hearMessages(b.life, client) })
	})
}

// hearMessages listens until the backend is closed. What is done while there is no stream may be missed.
func (b *backend) hearMessages(ctx context.Context, client string) {
	missed := false
	pause := firstPause
	for {
		heard, err := b.hearStream(ctx, client, missed)
		missed = missed || heard
		switch {
		case heard:
			pause = firstPause
		case neverHeardOf(err) || isUnsupported(err):
			pause = attendLater
		}
		if !sleep.For(ctx, jittered(pause)) {
			return
		}
		pause = min(2*pause, attendAgain)
	}
}

// hearStream passes on what one stream tells, and that it may have missed something before. It reports whether the
// stream has begun.
func (b *backend) hearStream(ctx context.Context, client string, missed bool) (heard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, err := b.client.listening.Attend(ctx, &bedrockv1.AttendRequest{Client: client, Listener: b.id})
	if err != nil {
		return false, err
	}
	defer from.Close()
	if !from.Receive() {
		return false, from.Err()
	}
	now := &stream{client: client, end: cancel}
	b.hearing.stream.Store(now)
	defer b.askForMissed() // also by who is about to: the stream is over by then
	defer b.hearing.stream.Store(nil)
	if missed {
		b.hearMessage(driver.Message{Kind: driver.Missed})
		b.askForMissed()
	}
	for from.Receive() {
		now.awaits.Store(false)
		if g, known := apiwire.PassedOf(from.Msg()); known {
			b.inheritTold(g)
		} else if m, known := apiwire.MessageOf(from.Msg()); known {
			b.hearMessage(m)
		}
	}
	return true, from.Err()
}

// hearMessage passes on what others have done to a grant.
func (b *backend) hearMessage(m driver.Message) {
	if b.hearing.tell != nil {
		b.hearing.tell(m)
	}
}

// Plead implements [driver.Pleader]. It is not repeated after a call without an answer: who has the lock would be
// asked twice.
func (b *backend) Plead(ctx context.Context, name string, p driver.Plea) (told int, err error) {
	err = driver.CheckName(name)
	if err == nil {
		err = p.Check()
	}
	if err := driver.Refused(err); err != nil {
		return 0, fmt.Errorf("ask %q: %w", name, err)
	}
	res, err := tryOnce(ctx, b.client, callTime, b.client.locks.Ask, apiwire.Plea(name, p))
	if err != nil {
		return 0, newerError("ask", name, err)
	}
	return int(res.GetTold()), nil
}

// isUnsupported reports whether a server has answered that its store cannot do it.
func isUnsupported(err error) bool { return errors.Is(lockError("", "", err), driver.ErrUnsupported) }
