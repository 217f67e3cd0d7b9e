package zklock

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Annotate implements [driver.Annotator].
func (b *backend) Annotate(ctx context.Context, g driver.Grant, meta string) error {
	if err := driver.CheckOwner(g.Owner); err != nil {
		return driver.Refused(err)
	}
	folder, err := b.layout.folderOf(g.Name, g.Mode)
	if err != nil {
		return err
	}
	if b.layout.profile == CuratorLatch {
		return fmt.Errorf("zklock: annotate %q: %w: the node of a LeaderLatch says who takes part, and nothing else",
			g.Name, driver.ErrUnsupported)
	}
	_, err = inSession(ctx, b, func() (struct{}, error) {
		for {
			if err := b.annotateNode(&g, folder, meta); !errors.Is(err, errMoved) {
				return struct{}{}, err
			}
		}
	})
	return describe("annotate", g.Name, err)
}

// annotateNode writes into the node of a grant. It fails with errMoved if that has become another one meanwhile.
func (b *backend) annotateNode(g *driver.Grant, folder, meta string) error {
	p := b.placeOf(g)
	if p != nil && !p.isGranted() { // it stands in line
		return driver.ErrLost
	}
	node, err := b.nodeOfGrant(p, g, folder)
	if err != nil {
		return err
	}
	there, err := b.rewrite(folder+"/"+node, func(data []byte, _ int32) ([]byte, error) {
		r, _ := parseRecord(data)
		r.Owner, r.Meta = g.Owner, meta
		r.TTL, r.Hears = milliseconds(g.TTL), b.note != nil
		return r.bytes(), nil
	})
	switch {
	case err != nil || there:
		return err
	case p != b.placeOf(g):
		return errMoved
	}
	return driver.ErrLost
}

// nodeOfGrant returns the node of a grant, whichever client has made it.
func (b *backend) nodeOfGrant(p *place, g *driver.Grant, folder string) (string, error) {
	if p != nil && p.node != "" {
		return p.node, nil
	}
	nodes, _, err := b.children(folder, b.layout.recipeFor(g.Mode.Kind()))
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return "", err
	}
	if node := nodeOf(nodes, prefixOf(g.Owner)); node != "" {
		return node, nil
	}
	return "", driver.ErrLost
}
