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
	quiet    bool              // all had ended when one more was made
	resolved bool              // the store has said since that the owner has nothing
}

// Ask notes that one more request is about to be made.
func (d *Doubt) Ask() {
	if d != nil {
		d.quiet = d.Ended()
	}
}

// After returns the doubt there is after one more request, which failed with err. A refusal
// resolves it, but not that of a request that was still under way when the refused one was made:
// the store may have come to that later.
func (d *Doubt) After(err error) *Doubt {
	if NothingHappened(err) {
		if d != nil && d.quiet && errors.Is(err, driver.ErrHeld) {
			d.resolved = true
		}
		return d
	}
	if d == nil {
		d = &Doubt{}
	}
	d.resolved = false
	if call, ok := errors.AsType[*driver.UnderwayError](err); ok {
		d.underway = append(d.underway, call.Ended)
	}
	return d
}

// Resolved reports whether the owner has nothing as far as anybody can know. A copy of a request
// may be in the network still, so who leaves the owner cleans up all the same.
func (d *Doubt) Resolved() bool { return d == nil || d.resolved }

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

// NothingHappened reports whether an error says for certain that nothing happened, or
// that it was undone.
func NothingHappened(err error) bool {
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
