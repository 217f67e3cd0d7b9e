package zklock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// ForceRelease implements [driver.Forcer]: it deletes the nodes of all who have the lock, and they hear of
// it. The next node was made later, or will be, so its token is higher by itself. While one of those is no client's,
// and would stay if its client went, nothing is deleted: it is data of somebody else, in the place of a lock.
func (b *backend) ForceRelease(ctx context.Context, name string) (bool, error) {
	folder, err := b.layout.pathOf(name)
	if err != nil {
		return false, err
	}
	held, err := inSession(ctx, b, func() (bool, error) {
		if err := b.catchUp(folder); err != nil { // who has the lock may have it since a moment ago
			return false, err
		}
		found, err := b.contents(folder)
		if errors.Is(err, zk.ErrNoNode) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		held := found.holders()
		if err := b.refuseLasting(ctx, found.folder, held); err != nil {
			return false, err
		}
		return b.removeAll(found.folder, held)
	})
	return held, describe("force the release of", name, err)
}

// refuseLasting refuses to delete nodes of which one does not end with a session, as all do that clients make.
func (b *backend) refuseLasting(ctx context.Context, folder string, nodes []string) error {
	errs := make([]error, min(len(nodes), sideBySide))
	var group sync.WaitGroup
	for first := range errs {
		group.Go(func() {
			for i := first; i < len(nodes) && errs[first] == nil; i += sideBySide {
				errs[first] = cmp.Or(ctx.Err(), b.refuseIfLasting(folder+"/"+nodes[i]))
			}
		})
	}
	group.Wait()
	return cmp.Or(errs...)
}

// refuseIfLasting refuses to delete a node that does not end with a session.
func (b *backend) refuseIfLasting(path string) error {
	there, node, err := b.conn.library().Exists(path)
	if err != nil || !there || node.EphemeralOwner != 0 {
		return err
	}
	return fmt.Errorf("%w: what is in its way is the node %q, which ends with no session, so it is no client's lock: "+
		"delete it by hand if nobody needs it", driver.ErrRefused, path)
}
