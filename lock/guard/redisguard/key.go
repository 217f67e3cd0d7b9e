package redisguard

import (
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/redisconn"
)

// keyOf is where the newest token of a name is kept, in the slot of the name. What follows the prefix is a brace for a
// name without a hash tag, and a colon for one with: no two names have one key.
func (g *Guard) keyOf(name string) string {
	if redisconn.Tag(name) == name && !strings.ContainsAny(name, "{}") {
		return g.opts.Prefix + "{" + name + "}"
	}
	return g.opts.Prefix + ":" + name
}

// checkKeys refuses keys that no server has together with the token.
func (g *Guard) checkKeys(name string, keys []string) error {
	if !g.conn.Cluster() {
		return nil
	}
	own := g.keyOf(name)
	if len(keys) > 0 && strings.Contains(redisconn.Tag(own), "}") {
		return input.Errorf("name", "%q: no key can be put into its slot; a name with braces needs a hash tag", name)
	}
	for i, key := range keys {
		if !redisconn.SameSlot(own, key) {
			return input.Errorf(fmt.Sprintf("keys[%d]", i),
				"%q is in another slot than %q: give it the hash tag {%s}", key, own, redisconn.Tag(own))
		}
	}
	return nil
}
