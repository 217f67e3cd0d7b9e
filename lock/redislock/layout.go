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
func reserved() [7]string {
	return [...]string{
		"redisson_lock_", "redisson_unlock_latch:", "redisson_rwlock:", "bedrock_token:", "bedrock_unlock_latch:",
		"bedrock_heir:", "bedrock_client:",
	}
}

// checkName refuses names this layout cannot keep apart. Nothing has been sent then.
func checkName(name string, cluster bool) error {
	for _, prefix := range reserved() {
		if strings.HasPrefix(name, prefix) {
			return refusedName("%q begins with %q, which is reserved for the keys beside a lock", name, prefix)
		}
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
