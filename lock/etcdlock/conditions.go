package etcdlock

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// A lock that several may have at once is decided by who asks: it reads the folder, and makes its key on condition
// that nothing has come meanwhile that would have been in its way. What has gone is in nobody's way. So readers do
// not disturb each other, nor do those who begin to wait to read disturb anybody; and the keys are called so that
// what is in the way of whom is a few ranges.

// span is a range of keys.
type span struct{ from, to string }

// spansAgainst returns where what is in the way of a request may be.
func spansAgainst(folder string, w word) []span {
	all := endOf(folder)
	beforeReaders, behindReaders := span{folder, folder + hasRead}, span{endOf(folder + waitsRead), all}
	switch w {
	case reads:
		return []span{beforeReaders, {endOf(folder + hasUpgrades), folder + waitsRead}, behindReaders}
	case upgradeable:
		return []span{beforeReaders, {endOf(folder + hasRead), folder + waitsRead}, behindReaders}
	default:
		return []span{{folder, folder + waitsRead}, behindReaders}
	}
}

// ifNothingIs compares that nothing is in the way, and that the owner has nothing yet.
func (a *attempt) ifNothingIs() (all []clientv3.Cmp) {
	spans := spansAgainst(a.folder, wordOf(a.req))
	if a.req.Mode == driver.Write { // a reader who waits may go first
		spans = []span{{a.folder, endOf(a.folder)}}
	}
	for _, s := range spans {
		all = append(all, clientv3.Compare(clientv3.CreateRevision(s.from), "=", 0).WithRange(s.to))
	}
	return append(all, clientv3.Compare(clientv3.CreateRevision(a.entry.grantKey), "=", 0))
}

// ifNothingCame compares that nothing has come into the way, or has changed there, since a view.
func (a *attempt) ifNothingCame(v *view) (all []clientv3.Cmp) {
	for _, s := range spansAgainst(a.folder, wordOf(a.req)) {
		all = append(all, clientv3.Compare(clientv3.ModRevision(s.from), "<", v.revision+1).WithRange(s.to))
	}
	all = append(all, clientv3.Compare(clientv3.CreateRevision(a.entry.grantKey), "=", 0))
	if over := v.others.holderOf(a.req.Over); a.req.Over != "" && over != nil {
		all = append(all, clientv3.Compare(clientv3.CreateRevision(over.key), "=", over.created))
	}
	return all
}

// noHolders compares that nobody has the lock as one of another kind.
func noHolders(folder string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(folder+firstHolder), "=", 0).WithRange(folder + afterHolder)
}

// isCrowd reports whether several may have at once what is asked for.
func isCrowd(mode driver.Mode) bool { return mode != driver.Exclusive }
