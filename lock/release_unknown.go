package lock

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// releaseUnknown makes sure, in the background, that the owner of a grant nobody wants
// does not keep others out. Nobody asks under that owner any more.
func (c *Client) releaseUnknown(g driver.Grant, d *settle.Doubt) *release {
	r, s := &release{}, settle.Settler{Backend: c.backend, Log: c.opts.Logger, Now: c.now}
	done := c.backlog.add(g.Name)
	c.finishLater(g.Name, func() {
		defer done()
		r.done.Store(s.Settle(c.background, g, d))
	})
	return r
}

// release is that of a grant which goes on in the background.
type release struct{ done atomic.Bool }

// isOver reports whether the grant is certain to be there no more.
func (r *release) isOver() bool { return r.done.Load() }

// finishLater has a grant of that name given back in the background. Where that is broken off,
// since the client's time is over, nobody knows what became of it.
func (c *Client) finishLater(name string, giveBack func()) {
	c.unreleased.add(name)
	c.work.Go(func() {
		giveBack()
		if c.background.Err() == nil {
			c.unreleased.remove(name)
		}
	})
}

// unreleased counts, by name, the grants that are being given back in the background, and those
// of which that was broken off.
type unreleased struct {
	mu     sync.Mutex
	grants map[string]int
	causes map[string]error // of those that Stop itself could not release
}

func (u *unreleased) add(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.grants == nil {
		u.grants = make(map[string]int)
	}
	u.grants[name]++
}

func (u *unreleased) remove(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.grants[name]--; u.grants[name] == 0 {
		delete(u.grants, name)
		delete(u.causes, name)
	}
}

// noteCause keeps why Stop could not release a lock, unless the background has released it by now.
func (u *unreleased) noteCause(name string, cause error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.grants[name] == 0 {
		return
	}
	if u.causes == nil {
		u.causes = make(map[string]error)
	}
	u.causes[name] = cause
}

// mostNamed is how many locks an error names.
const mostNamed = 5

// describe tells of the locks that may not be free: why, where Stop could not release one itself.
func (u *unreleased) describe() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var (
		errs   []error
		others []string
	)
	for _, name := range slices.Sorted(maps.Keys(u.grants)) {
		if cause := u.causes[name]; cause != nil {
			errs = append(errs, opError(leftInBackend, name, cause))
		} else {
			others = append(others, name)
		}
	}
	return errors.Join(append(errs, notKnownToBeReleased(others))...)
}

// notKnownToBeReleased names locks, some of them if they are many; nil if there are none.
func notKnownToBeReleased(names []string) error {
	if len(names) == 0 {
		return nil
	}
	text := make([]string, 0, mostNamed+1)
	for _, name := range names[:min(len(names), mostNamed)] {
		text = append(text, fmt.Sprintf("%q", name))
	}
	if more := len(names) - len(text); more > 0 {
		text = append(text, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("lock: stop: not known to be released: %s", strings.Join(text, ", "))
}

// sleep waits in the background. It reports false when the client ends.
func (c *Client) sleep(d time.Duration) bool { return sleep.For(c.background, d) }
