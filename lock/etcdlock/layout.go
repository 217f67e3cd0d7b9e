package etcdlock

import (
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// layout says where the keys of a lock are: below a folder of its own, one for each that has it or waits for it, in
// the order of their create revisions. The official clients have them so, with the hexadecimal ID of a lease as the
// last part of each key.
type layout struct {
	prefix string
	raw    bool
	elects bool // what is stored is what candidates propose
}

// ownChild is what the last part of a key of this package begins with, before the owner. No number does: it cannot be
// that of an official client.
const ownChild = "bedrock-"

func newLayout(o *Options) layout {
	return layout{prefix: o.Prefix, raw: o.Profile != Own, elects: o.Profile == Elections}
}

// folder returns what all keys of a lock begin with, and no key of another one but, with raw names, what has a
// further slash behind that.
func (l layout) folder(name string) string {
	if l.raw {
		return name + "/"
	}
	return l.prefix + escape(name) + "/"
}

// key returns the key of an owner.
func (l layout) key(name, owner string) string { return l.folder(name) + ownChild + escape(owner) }

// What the keys begin with of locks that several may have at once, before the owner. Those of who has such a lock, and
// of a latch, are one range, and so are those of who reads and of who waits to: see conditions.go.
const (
	hasPermits  = "has-permits-"
	hasRead     = "has-read-"
	hasUpgrades = "has-upgrades-"
	hasWrite    = "has-write-"
	latchChild  = "latch"
	waitsRead   = "waits-read-"
	waitsWrite  = "waits-write-"

	firstHolder = "has-"
	afterHolder = "latch."
)

// grantKey returns the key of who has what is asked for.
func (l layout) grantKey(req *driver.Request) string {
	var child string
	switch wordOf(req) {
	case reads:
		child = hasRead
	case upgradeable:
		child = hasUpgrades
	case writes:
		child = hasWrite
	case permits:
		child = hasPermits
	default:
		return l.key(req.Name, req.Owner)
	}
	return l.folder(req.Name) + child + escape(req.Owner)
}

// placeKey returns the key of who waits for what is asked for; nothing of who has no place by that.
func (l layout) placeKey(req *driver.Request) string {
	switch req.Mode {
	case driver.Shared:
		return l.folder(req.Name) + waitsRead + escape(req.Owner)
	case driver.Write:
		return l.folder(req.Name) + waitsWrite + escape(req.Owner)
	default:
		return ""
	}
}

// latchKey returns the key of a latch.
func (l layout) latchKey(name string) string { return l.folder(name) + latchChild }

// answerKey returns the key of what a call was told that has changed a latch. No name is escaped so.
func (l layout) answerKey(id string) string { return l.prefix + "%answers/" + escape(id) }

// crowdOwner returns whose key that is by its last part, of a lock that several may have at once, or a latch.
func crowdOwner(child string) (owner string, ok bool) {
	if child == latchChild {
		return "", true
	}
	for _, begins := range []string{hasPermits, hasRead, hasUpgrades, hasWrite, waitsRead, waitsWrite} {
		if rest, found := strings.CutPrefix(child, begins); found {
			return unescape(rest)
		}
	}
	return "", false
}

// nameOf returns the lock and the last part of a key of it.
func (l layout) nameOf(key string) (name, child string, ok bool) {
	rest, below := strings.CutPrefix(key, l.prefix)
	at := strings.LastIndexByte(rest, '/')
	if !below || at < 1 {
		return "", "", false
	}
	name = rest[:at]
	if !l.raw {
		name, ok = unescape(name)
		return name, rest[at+1:], ok
	}
	return name, rest[at+1:], true
}

// beginsWith returns what the keys of locks begin with whose names begin with a text.
func (l layout) beginsWith(text string) string {
	if l.raw {
		return text
	}
	return l.prefix + escape(text)
}

// ownerOf returns whose key that is by its last part: that of another library has itself.
func ownerOf(child string) (owner string, own bool) {
	text, own := strings.CutPrefix(child, ownChild)
	if own {
		if owner, ok := unescape(text); ok {
			return owner, true
		}
	}
	return child, false
}

// endOf returns the end of the range of the keys that begin with a text.
func endOf(text string) string { return clientv3.GetPrefixRangeEnd(text) }

// escape writes a text without slashes, so that what it begins with, and where it ends, stays the same.
func escape(text string) string {
	if !strings.ContainsAny(text, "%/") {
		return text
	}
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(text)
}

// unescape reads what escape has written. It reports whether it can have.
func unescape(text string) (string, bool) {
	if strings.IndexByte(text, '%') < 0 {
		return text, true
	}
	plain := strings.NewReplacer("%25", "%", "%2F", "/").Replace(text)
	return plain, escape(plain) == text
}
