package redislock

import (
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// layout says under which keys a profile keeps what belongs to a name. All of
// them lie in the slot of the name, by the rules of Redisson: a name with a
// hash tag brings its own, any other is made one.
type layout struct {
	token, channel, latch string // prefixes, with their colon
}

func redissonLayout() layout {
	return layout{token: "redisson_lock_token:", channel: "redisson_lock__channel:", latch: "redisson_unlock_latch:"}
}

// The beginnings of further keys and channels.
const (
	rwChannel     = "redisson_rwlock:"
	permitChannel = "redisson_sc:"
	holdersKey    = "bedrock_holders:"
	writerKey     = "bedrock_writer:"
	upgradeKey    = "bedrock_upgrade:"
	readersKey    = "bedrock_readers:"
	turnKey       = "bedrock_turn:"
	lineKey       = "bedrock_line:"
	permitsKey    = "bedrock_permits:" // of an RSemaphore, those of ours
	markKey       = "bedrock_latch:"   // of a latch that Bedrock has made

	// storeKey begins the keys of a store of transactions, which a server may keep on the same Redis: those of package
	// redisstore as it is by default. Whoever may take locks must not take those.
	storeKey = "bedrock:{"

	// Those below are between the mark's and a name.
	callPart    = "call:"    // what a call was answered
	channelPart = "channel:" // see countdownChannel
)

// countdownChannel is how the channel of a latch begins; it goes on with the name in braces.
const countdownChannel = "redisson_countdownlatch__channel__"

// channelOf returns where releases of a lock are told.
func (l layout) channelOf(name string, kind driver.Kind) string {
	switch kind {
	case driver.ReadWrite:
		return rwChannel + tagged(name)
	case driver.Semaphore:
		return permitChannel + tagged(name)
	case driver.Latch:
		return countdownChannel + "{" + name + "}" // whatever braces there are
	default:
		return l.of(name, "").channel
	}
}

// tagged returns a name as the keys beside it have it.
func tagged(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}

// beside returns a key of our own beside a name: "x" and "{x}" have different ones.
func beside(prefix, name string) string {
	if strings.Contains(name, "{") {
		return prefix + name + ":tagged"
	}
	return prefix + "{" + name + "}"
}

// latchOf returns the latch of one owner's release.
func (l layout) latchOf(name, owner string) string { return beside(l.latch, name) + ":" + owner }

// takenOf returns where the permits of a semaphore are that are taken.
func takenOf(name string, of Semaphores) string {
	if of == RSemaphore {
		return beside(permitsKey, name)
	}
	return tagged(name) + ":timeout"
}

func redlockLayout() layout {
	return layout{token: "bedrock_token:", channel: "bedrock_channel:", latch: "bedrock_unlock_latch:"}
}

// keys are the Redis keys of one name, and of one client.
type keys struct {
	name, token, channel, latch string
}

// of returns the keys for a name and the client an owner belongs to. They are
// cut out of one string: the names of keys are half of what a lock costs in
// memory.
func (l layout) of(name, owner string) keys {
	open, end := "{", "}"
	latchEnd := ""
	if strings.Contains(name, "{") {
		// The lock "{x}" has the counter and the channel of the lock "x", as in
		// Redisson. Both only get tokens with gaps, and wake-ups too many; but
		// the latch must tell them apart.
		open, end, latchEnd = "", "", ":tagged"
	}
	client, _, _ := strings.Cut(owner, ":")
	all := l.token + open + name + end +
		l.channel + open + name + end +
		l.latch + open + name + end + ":" + client + latchEnd
	tagged := len(open) + len(name) + len(end)
	token := len(l.token) + tagged
	channel := token + len(l.channel) + tagged
	return keys{name: name, token: all[:token], channel: all[token:channel], latch: all[channel:]}
}

// reserved are the beginnings of keys that are not locks. A lock of such a name
// could be another lock's counter.
func reserved() [17]string {
	return [...]string{
		"redisson_lock_", "redisson_unlock_latch:", rwChannel, permitChannel, "bedrock_token:", "bedrock_unlock_latch:",
		"bedrock_heir:", "bedrock_client:", holdersKey, writerKey, upgradeKey, readersKey, turnKey, lineKey, markKey,
		permitsKey, storeKey,
	}
}

// checkName refuses names this layout cannot keep apart. Nothing has been sent then.
func checkName(name string, cluster bool) error {
	for _, prefix := range reserved() {
		if strings.HasPrefix(name, prefix) {
			return refusedName("%q begins with %q, which is reserved for the keys beside a lock", name, prefix)
		}
	}
	if strings.ContainsAny(name, "{}") &&
		(strings.HasSuffix(name, ":timeout") || strings.Contains(name, ":rwlock_timeout:")) {
		return refusedName("%q ends like a key beside a read-write lock or a semaphore", name)
	}
	if cluster && strings.ContainsAny(name, "{}") && !hasTag(name) {
		return refusedName("%q has braces but no hash tag, such as {a} in %q, "+
			"which a cluster needs to keep its keys together", name, "{a}/b")
	}
	return nil
}

// refusedName is an [*input.Error], as of a name that no backend takes: that another one takes it
// does not help who asks here.
func refusedName(format string, args ...any) error {
	return driver.Refused(input.Errorf("name", format, args...))
}

// hasTag reports whether Redis finds a hash tag in name.
func hasTag(name string) bool { return redisconn.Tag(name) != name }
