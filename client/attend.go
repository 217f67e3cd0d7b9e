package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// hearing is how a backend hears what others do to its grants: by one stream, for the client that all of its owners
// are of.
type hearing struct {
	tell  func(driver.Message) // nil where nobody wants to be told
	begin sync.Once
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
	if b.hearing.tell == nil || b.life.Err() != nil {
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
	stream, err := b.client.listening.Attend(ctx, &bedrockv1.AttendRequest{Client: client})
	if err != nil {
		return false, err
	}
	defer stream.Close()
	for ; stream.Receive(); heard = true {
		if !heard && missed {
			b.hearing.tell(driver.Message{Kind: driver.Missed})
		}
		if m, known := apiwire.MessageOf(stream.Msg()); known {
			b.hearing.tell(m)
		}
	}
	return heard, stream.Err()
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
