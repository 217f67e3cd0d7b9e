package settle

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Doubt is what the requests of an owner that got no answer leave behind: each may
// have been granted, or may still be. Nil means that there was none of them.
//
// When no request is to come any more, several may look at one and wait for it: who was
// told of a grant and who cleans up after it.
type Doubt struct {
	underway []<-chan struct{} // the ends of those that go on in this process; only added to
}

// After returns the doubt there is after one more request, which failed with err.
func (d *Doubt) After(err error) *Doubt {
	if nothingHappened(err) {
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
	for _, end := range d.underway {
		if !isClosed(end) {
			return false
		}
	}
	return true
}

// Wait waits until the requests have ended. It reports false when ctx ends before.
func (d *Doubt) Wait(ctx context.Context) bool {
	if d == nil {
		return true
	}
	for _, end := range d.underway {
		if isClosed(end) { // whether ctx has ended or not
			continue
		}
		select {
		case <-end:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// nothingHappened reports whether an error says for certain that nothing happened, or
// that it was undone.
func nothingHappened(err error) bool {
	if _, underway := errors.AsType[*driver.UnderwayError](err); underway {
		return false
	}
	return errors.Is(err, driver.ErrHeld) || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
