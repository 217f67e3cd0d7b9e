package zklock

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Release implements [driver.Backend]. The server tells who stands behind, so nobody else is woken; how many those
// are it does not say.
func (b *backend) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	if err := driver.CheckOwner(g.Owner); err != nil {
		return 0, driver.Refused(err)
	}
	folder, err := b.layout.folderOf(g.Name, g.Mode)
	if err != nil {
		return 0, err
	}
	_, err = inSession(ctx, b, func() (struct{}, error) { return struct{}{}, b.releaseNow(&g, folder) })
	if err != nil {
		return 0, describe("release", g.Name, err)
	}
	return 0, nil
}

// releaseNow deletes the node of a grant, whichever client has made it.
func (b *backend) releaseNow(g *driver.Grant, folder string) error {
	key := keyOf(g.Name, g.Owner)
	p, _ := b.takePlace(key)
	granted := true
	if p == nil {
		p = b.newPlace(*g, folder)
	} else if b.leaveLine(p); p.node != "" {
		granted = p.finishPlace()
	}
	removed, err := b.removeNodes(p)
	if err != nil {
		b.rememberRelease(key, granted)
		b.leaveNode(p)
		return err
	}
	switch {
	case removed && granted:
		b.rememberRelease(key, granted)
		return nil
	case b.wasReleased(key):
		return nil
	}
	return fmt.Errorf("%w: it has no node", driver.ErrLost)
}

// rememberRelease remembers that an owner gives a grant back.
func (b *backend) rememberRelease(key string, granted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if granted {
		b.released.add(key)
	}
}

func (b *backend) wasReleased(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.released.contains(key)
}
