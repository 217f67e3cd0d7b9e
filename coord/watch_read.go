package coord

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// leastBetween is the least time between two looks at the store for changes made elsewhere,
// counted over all transactions: the more are watched, the less often each is read.
const leastBetween = 2 * time.Millisecond

// readView keeps a view up to date until its last watcher has left or there is nothing to
// see any more; a watcher that comes then gets another view.
func (c *Coordinator) readView(ctx context.Context, v *view, heard *listener) {
	defer c.news.unlisten(v.id, heard)
	err := c.followChanges(ctx, v, heard)
	c.views.mu.Lock()
	c.views.removeView(v)
	c.views.mu.Unlock()
	v.showNewest(nil, err)
}

// followChanges looks at the store when something was written here, until a look succeeds,
// and otherwise ever less often, because other replicas write, too. A store that does not
// answer is asked again later, once for all watchers.
func (c *Coordinator) followChanges(ctx context.Context, v *view, heard *listener) error {
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
			switch changed, err := c.readIfChanged(ctx, v); {
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

// errNotRead says that a look has failed; the next one may succeed.
var errNotRead = errors.New("not read")

// readIfChanged reads a transaction and shows it, if it has changed.
func (c *Coordinator) readIfChanged(ctx context.Context, v *view) (changed bool, err error) {
	rec, err := c.loadOnce(ctx, v.id)
	switch {
	case errors.Is(err, driver.ErrNotFound) || errors.Is(err, driver.ErrClosed):
		return false, err
	case err != nil:
		return false, errNotRead
	case v.newest != nil && !versionOf(v.newest).before(version{rec.Created, rec.Revision}):
		return false, nil
	}
	t, _, err := record.Decode(rec)
	if err != nil {
		return false, err
	}
	v.showNewest(t, nil)
	return true, nil
}
