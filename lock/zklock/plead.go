package zklock

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Plead implements [driver.Pleader]: it writes into the nodes of all who have the lock. A holder of Curator heeds it
// that has made its lock revocable.
func (b *backend) Plead(ctx context.Context, name string, p driver.Plea) (told int, err error) {
	folder, err := b.layout.pathOf(name)
	if err != nil {
		return 0, err
	}
	told, err = inSession(ctx, b, func() (int, error) {
		found, err := b.contents(folder)
		if errors.Is(err, zk.ErrNoNode) {
			return 0, nil
		}
		told := 0
		for _, n := range found.holders() {
			hears, err := b.askFor(found.folder+"/"+n, p)
			if err != nil {
				return told, err
			}
			if hears {
				told++
			}
		}
		return told, err
	})
	return told, describe("ask for", name, err)
}

// askFor writes into the node of a holder, and reports whether that hears of it.
func (b *backend) askFor(path string, p driver.Plea) (hears bool, err error) {
	there, err := b.rewrite(path, func(data []byte, version int32) ([]byte, error) {
		data, hears = withPlea(data, version, p)
		return data, nil
	})
	return there && hears, err
}

// withPlea returns what a node is to say so that its holder is asked; nil if it would not hear.
func withPlea(data []byte, version int32, p driver.Plea) (changed []byte, heard bool) {
	r, ours := parseRecord(data)
	switch {
	case ours && r.Hears:
		r.Plea = &plea{Reason: p.Reason, Number: version}
		if p.Within > 0 {
			r.Plea.Within = milliseconds(p.Within)
		}
		return r.bytes(), true
	case ours || len(data) > 0 && string(data) != revoke:
		return nil, false
	}
	return []byte(revoke), true
}

// rewrite changes the data of a node, unless that becomes nil, and reports whether the node is there. Nobody else's
// change is lost by it.
func (b *backend) rewrite(path string, change func(data []byte, version int32) ([]byte, error)) (bool, error) {
	for range mostTries {
		data, stat, err := b.conn.library().Get(path)
		if errors.Is(err, zk.ErrNoNode) {
			return false, nil
		}
		if err != nil {
			return false, lacking(mayRead, path, err)
		}
		if data, err = change(data, stat.Version); err != nil || data == nil {
			return true, err
		}
		_, err = b.conn.library().Set(path, data, stat.Version)
		if errors.Is(err, zk.ErrNoNode) {
			return false, nil
		}
		if !errors.Is(err, zk.ErrBadVersion) {
			return true, lacking(mayWrite, path, err)
		}
	}
	return false, fmt.Errorf("%w: %s is changed again and again", driver.ErrUnavailable, path)
}
