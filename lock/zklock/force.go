package zklock

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// ForceRelease implements [driver.Forcer]: it deletes the nodes of all who have the lock, and they hear of
// it. The next node was made later, or will be, so its token is higher by itself.
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
		return b.removeAll(found.folder, found.holders())
	})
	return held, describe("force the release of", name, err)
}
