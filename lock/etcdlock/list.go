package etcdlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// pageLength is how many keys are read at a time.
const pageLength = 1000

// List implements [driver.Inspector]. In the profile [Compatible] it looks at every key that begins with prefix, and
// tells of the locks that a client of this package or an official one has, or waits for. Of a key of somebody else it
// is told as of their holder alone: every name before a slash would be a lock otherwise.
func (b *backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	for range mostTries {
		infos, err := b.listAt(ctx, prefix, limit)
		if !errors.Is(err, rpctypes.ErrCompacted) { // else it takes longer than revisions are kept
			return infos, err
		}
	}
	return nil, describe("list", prefix, errOutrun)
}

// listAt lists the locks as they are at one revision.
func (b *backend) listAt(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	from := b.layout.beginsWith(prefix)
	end := "\x00" // of a range: all there is
	if from != "" {
		end = endOf(from)
	} else {
		from = "\x00"
	}
	byName := make(map[string]*listed)
	revision := int64(0)
	for {
		resp, err := b.client.Get(clientv3.WithRequireLeader(ctx), from, clientv3.WithRange(end),
			clientv3.WithLimit(pageLength), clientv3.WithRev(revision),
			clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend))
		if err != nil {
			return nil, b.describeRead("list", prefix, err)
		}
		if revision == 0 {
			revision = resp.Header.Revision
		}
		b.addContenders(byName, resp.Kvs)
		if !resp.More || len(resp.Kvs) == 0 {
			return describeLines(byName, revision, limit), nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// listed is what was found of a lock.
type listed struct {
	line []contender
	// stranger is the oldest key there of neither a client of this package nor an official one, which may be
	// anything: whatever has come after it does not have the lock.
	stranger *contender
}

// addContenders enters keys by the names of their locks.
func (b *backend) addContenders(byName map[string]*listed, kvs []*mvccpb.KeyValue) {
	for _, kv := range kvs {
		name, child, ok := b.layout.nameOf(string(kv.Key))
		if !ok || driver.CheckName(name) != nil {
			continue
		}
		c, ok := b.layout.readContender(b.layout.folder(name), kv)
		if !ok {
			continue
		}
		found := byName[name]
		if found == nil {
			found = &listed{}
			byName[name] = found
		}
		official := c.lease != clientv3.NoLease && child == fmt.Sprintf("%x", int64(c.lease))
		switch {
		case c.own || official:
			found.line = append(found.line, c)
		case found.stranger == nil || c.created < found.stranger.created:
			found.stranger = &c
		}
	}
}

// describeLines tells of the locks that somebody has, at most limit, in order of their names.
func describeLines(byName map[string]*listed, revision int64, limit int) (infos []driver.Info) {
	for name, found := range byName {
		line := found.line
		if len(line) == 0 {
			continue
		}
		if found.stranger != nil {
			line = append(line, *found.stranger)
		}
		slices.SortFunc(line, func(x, y contender) int { return cmp.Compare(x.created, y.created) })
		var mutex []contender
		var others crowd
		for i := range line {
			if line[i].crowd {
				others = append(others, line[i])
			} else {
				mutex = append(mutex, line[i])
			}
		}
		if info := describeLine(name, mutex, others, revision); len(info.Holders) > 0 {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(x, y driver.Info) int { return cmp.Compare(x.Name, y.Name) })
	return infos[:min(len(infos), max(limit, 0))]
}
