package redislock

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// heardOn returns the channel on which this client hears of a name.
//
// Redisson puts braces around the name of a latch even if that has some already, as in "{t}/a": by its tag such a
// channel belongs to another slot of a cluster than the name. Redisson's own scripts, which name both, are refused
// there; so of a latch of such a name Java can do nothing in a cluster but await it, and read the count.
//
// PUBLISH is heard everywhere, so with it the channel is Redisson's all the same. A script can SPUBLISH in its own slot
// only: then Bedrock has a channel of its own, beside the name, on which nothing is missed; and after the script it
// tells those who listen in Java by a request of its own. That is lost if the process ends in between: then they wait
// in vain, which is still more than Redisson does for them.
func (b *backend) heardOn(name string, kind driver.Kind, sharded bool) string {
	channel := b.layout.channelOf(name, kind)
	if kind == driver.Latch && sharded && !redisconn.SameSlot(channel, name) {
		return beside(markKey+channelPart, name)
	}
	return channel
}

// elsewhereTime bounds that, as another server has to do with it.
const elsewhereTime = time.Second

// tellElsewhere tells those in Java who await a latch whose channel is in another slot: see heardOn. The latch is what
// it is by then, so an error is none of the caller's.
func (b *backend) tellElsewhere(ctx context.Context, name, text string) {
	sharded, known := b.pubsub.known(b)
	channel := b.layout.channelOf(name, driver.Latch)
	if known && !sharded || !b.conn.Cluster() || redisconn.SameSlot(channel, name) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, elsewhereTime)
	defer cancel()
	b.conn.Pipeline(ctx, []redisconn.Call{{Command: "SPUBLISH", Keys: []string{channel}, Args: []string{text}}})
}
