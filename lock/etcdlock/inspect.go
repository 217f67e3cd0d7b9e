package etcdlock

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Inspect implements [driver.Inspector]. It tells of the keys of other libraries, too, whose owners are the last
// parts of their keys, and of what else is there: which key that is stands in its metadata, as [KeyOfHolder].
func (b *backend) Inspect(ctx context.Context, name string) (driver.Info, error) {
	folder := b.layout.folder(name)
	resp, err := b.client.Get(clientv3.WithRequireLeader(ctx), folder, clientv3.WithRange(endOf(folder)),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return driver.Info{}, b.describeRead("inspect", name, err)
	}
	line, others := b.layout.readLine(folder, resp.Kvs)
	info := describeLine(name, line, others, resp.Header.Revision)
	if len(line) == 0 {
		err = b.correctTimes(ctx, others.admitted(), &info)
	} else {
		err = b.correctTimes(ctx, []*contender{&line[0]}, &info)
	}
	if err != nil {
		return driver.Info{}, b.describeRead("inspect", name, err)
	}
	return info, nil
}

// mostLeases is how many leases are asked how much is left of them, for one answer.
const mostLeases = 16

// correctTimes corrects how much time is left by the leases of those who have the lock, as far as they have few.
func (b *backend) correctTimes(ctx context.Context, holders []*contender, info *driver.Info) error {
	left := make(map[clientv3.LeaseID]time.Duration)
	for i, c := range holders[:min(len(holders), len(info.Holders))] {
		h := &info.Holders[i]
		switch _, known := left[c.lease]; {
		case c.lease == clientv3.NoLease:
			h.TTL = -1
			continue
		case known:
		case len(left) == mostLeases:
			continue
		default:
			resp, err := b.client.TimeToLive(ctx, c.lease)
			if err != nil {
				return err
			}
			left[c.lease] = max(time.Duration(resp.TTL)*time.Second, time.Millisecond) // else it is being ended
		}
		if h.TTL = left[c.lease]; c.own && c.ttl > 0 {
			h.TTL = min(c.life(), h.TTL)
		}
	}
	return nil
}

// newestToken returns what no token is above of who has a lock as its first in line. It stays the same for as long as
// nothing is written there, but for one who was granted it unasked: only its client knows when that was.
func (c *contender) newestToken(revision int64) uint64 {
	switch at := c.grantedAt(); {
	case at > 0:
		return lastToken(at)
	case c.own && c.state == stands:
		return lastToken(revision)
	default:
		return lastToken(c.modified)
	}
}

// describeLine tells who has a lock and who waits for it.
func describeLine(name string, line []contender, others crowd, revision int64) driver.Info {
	if len(line) == 0 {
		return describeCrowd(name, others, revision)
	}
	info := driver.Info{Name: name, Token: lastToken(revision)}
	waiting := line
	if line[0].state != waits {
		first := &line[0]
		h := driver.Holder{Owner: first.owner, TTL: first.life(), Meta: first.shownMeta()}
		if first.lease == clientv3.NoLease {
			h.TTL = -1
		}
		if at := first.grantedAt(); at > 0 {
			h.Token = firstToken(at)
		}
		if first.state == held || first.state == taken {
			h.Since = first.since
		}
		info.Token = first.newestToken(revision)
		info.Holders, waiting = []driver.Holder{h}, line[1:]
	}
	clients := make(map[string]bool)
	for i := range waiting {
		c := &waiting[i]
		clients[driver.ClientOf(c.owner)] = true
		if c.word == fair {
			info.Line = append(info.Line, driver.InLine{Owner: c.owner, Since: c.since, Meta: c.meta})
		}
	}
	info.Waiting = len(clients)
	return info
}

// describeCrowd tells who has a lock that several may have at once. Of a free one nobody waits: who has a place in its
// folder is about to have it.
func describeCrowd(name string, others crowd, revision int64) driver.Info {
	info := driver.Info{Name: name, Token: lastToken(revision)}
	holders := others.admitted()
	if len(holders) == 0 || holders[0].word == latch {
		return info
	}
	newest := holders[len(holders)-1]
	info.Kind, info.Token, info.Limit = newest.word.lockKind(), lastToken(newest.created), newest.limit
	for _, c := range holders {
		h := driver.Holder{
			Owner: c.owner, Mode: c.word.mode(), Upgradeable: c.word == upgradeable,
			Token: firstToken(c.created), Since: c.since, TTL: c.life(), Meta: c.meta,
		}
		if c.word == permits {
			h.Permits = c.count
		}
		info.Holders = append(info.Holders, h)
	}
	clients := make(map[string]bool)
	for i := range others {
		if !others[i].hasLock() {
			clients[driver.ClientOf(others[i].owner)] = true
		}
	}
	info.Waiting = len(clients)
	return info
}
