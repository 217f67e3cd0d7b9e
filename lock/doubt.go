package lock

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// doubt is what the requests of an owner that got no answer leave behind: each may
// have been granted, or may still be. Nil means that there was none of them.
type doubt struct {
	underway []<-chan struct{} // the ends of those that go on in this process
}

// after returns the doubt there is after one more request, which failed with err.
func (d *doubt) after(err error) *doubt {
	if settled(err) {
		return d
	}
	if d == nil {
		d = &doubt{}
	}
	if call, ok := errors.AsType[*driver.UnderwayError](err); ok {
		d.underway = append(d.underway, call.Ended)
	}
	return d
}

// ended reports whether none of the requests is under way in this process.
func (d *doubt) ended() bool {
	if d == nil {
		return true
	}
	for len(d.underway) > 0 && isClosed(d.underway[0]) {
		d.underway = d.underway[1:]
	}
	return len(d.underway) == 0
}

// wait waits until the requests have ended. It reports false when ctx ends before.
func (d *doubt) wait(ctx context.Context) bool {
	for !d.ended() {
		select {
		case <-d.underway[0]:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
