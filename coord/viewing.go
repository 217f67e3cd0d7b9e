package coord

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// leastBetween is the time between two looks at the store for changes made elsewhere,
// over all transactions that are watched: many of them are looked at ever less often.
const leastBetween = 2 * time.Millisecond

// read keeps a view up to date until its last watcher has left or there is nothing to
// see any more; whoever comes then gets another view.
func (c *Coordinator) read(ctx context.Context, v *view, heard *listener) {
	defer c.news.leave(v.id, heard)
	err := c.follow(ctx, v, heard)
	c.views.mu.Lock()
	c.views.forget(v)
	c.views.mu.Unlock()
	v.turn(nil, err)
}

// follow looks at the store when something was written here, until it has seen it, and
// otherwise ever less often: others write, too. A store that does not answer is asked
// again later, not by every watcher anew.
func (c *Coordinator) follow(ctx context.Context, v *view, heard *listener) error {
	pause := askStore
	timer := time.NewTimer(c.jitter(pause))
	defer timer.Stop()
	unseen := false // something was written here, and not read yet
	for {
		told, err := c.anyChange(ctx, heard, timer)
		if err != nil {
			return err
		}
		pause = min(2*pause, max(askStoreLater, time.Duration(c.views.len())*leastBetween))
		if unseen = unseen || told; unseen || c.active.get(v.id) == nil { // what is driven here is written here
			switch changed, err := c.look(ctx, v); {
			case errors.Is(err, errNotRead):
			case err != nil:
				return err
			case changed:
				pause, unseen = askStore, false
			default:
				unseen = false
			}
		}
		timer.Reset(c.jitter(pause))
	}
}

// anyChange waits until something was written here, or may have been written elsewhere.
func (c *Coordinator) anyChange(ctx context.Context, heard *listener, timer *time.Timer) (told bool, err error) {
	select {
	case <-heard.changed:
		return true, nil
	case <-heard.end:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, txn.ErrClosed // the coordinator stops, or nobody watches
	}
}

// errNotRead is a look that has failed; the next one may say more.
var errNotRead = errors.New("not read")

// look reads a transaction and shows it, if it has changed.
func (c *Coordinator) look(ctx context.Context, v *view) (changed bool, err error) {
	rec, err := c.loadOnce(ctx, v.id)
	switch {
	case errors.Is(err, driver.ErrNotFound) || errors.Is(err, driver.ErrClosed):
		return false, err
	case err != nil:
		return false, errNotRead
	case v.newest != nil && !versionOf(v.newest).before(version{rec.Created, rec.Revision}):
		return false, nil
	}
	t, _, err := decode(rec)
	if err != nil {
		return false, err
	}
	v.turn(t, nil)
	return true, nil
}
