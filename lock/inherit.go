package lock

import "github.com/bedrock-go/bedrock/lock/driver"

// inherit is told by the backend what the store has granted to a request that stands, or may have
// granted. It may be told several times, and late: when the owner has the lock already, or is wanted no
// more. What nobody wants is given back at once, so that the store passes it on.
func (c *Client) inherit(g driver.Grant) {
	p := c.queues.partOf(g.Name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.holdOf(g.Name, g.Owner) != nil {
		return
	}
	q := p.queueAsking(g.Name, g.Owner)
	if g.Owner == "" {
		q = p.byName[g.Name]
	}
	switch {
	case q != nil:
		q.hand(g)
	case g.Owner != "":
		if g.TTL == 0 {
			g.TTL = c.opts.TTL
		}
		c.releaseUnknown(g, nil)
	}
}

// asksAs reports whether the one at the front asks under that owner, or the queue's request stands under it.
func (q *queue) asksAs(owner string) bool {
	number := numberOf(owner)
	return number != 0 && q.asks.Load() == number
}

// hand puts a grant where the one at the front looks. What is there already makes that one ask, or is the
// same. part.mu is held.
func (q *queue) hand(g driver.Grant) {
	select {
	case q.mailbox() <- g:
	default:
	}
}

// mailbox returns where the queue is told of grants. part.mu is held.
func (q *queue) mailbox() chan driver.Grant {
	if q.handed == nil {
		q.handed = make(chan driver.Grant, 1)
	}
	return q.handed
}
