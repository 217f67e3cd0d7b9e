package settle

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Doubt is what the requests of an owner that got no answer leave behind: each may
// have been granted, or may still be. Nil means that there was none of them.
type Doubt struct {
	underway []<-chan struct{} // the ends of those that go on in this process
}

// After returns the doubt there is after one more request, which failed with err.
func (d *Doubt) After(err error) *Doubt {
	if settled(err) {
		return d
	}
	if d == nil {
		d = &Doubt{}
	}
	if call, ok := errors.AsType[*driver.UnderwayError](err); ok {
		d.underway = append(d.underway, call.Ended)
	}
	return d
}

// Ended reports whether none of the requests is under way in this process.
func (d *Doubt) Ended() bool {
	if d == nil {
		return true
	}
	for len(d.underway) > 0 && isClosed(d.underway[0]) {
		d.underway = d.underway[1:]
	}
	return len(d.underway) == 0
}

// Wait waits until the requests have ended. It reports false when ctx ends before.
func (d *Doubt) Wait(ctx context.Context) bool {
	for !d.Ended() {
		select {
		case <-d.underway[0]:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// settled reports whether an error says for certain that nothing happened, or
// that it was undone.
func settled(err error) bool {
	if _, underway := errors.AsType[*driver.UnderwayError](err); underway {
		return false
	}
	return errors.Is(err, driver.ErrHeld) || errors.Is(err, driver.ErrRefused) ||
		errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrUnsupported)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
