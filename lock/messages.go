package lock

import "github.com/bedrock-go/bedrock/lock/driver"

// hearMessage is told by the backend what others want of this client's grants, or have done to them. It may come
// late: owners have one grant each, so what is told of another one is over.
func (c *Client) hearMessage(m driver.Message) {
	if m.Kind == driver.Missed {
		c.missed.Add(1)
		return
	}
	p := c.queues.partOf(m.Name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	switch h := p.holdOf(m.Name, m.Owner); {
	case h == nil:
		if q := p.queueAsking(m.Name, m.Owner); q != nil {
			q.hearEarly(m)
		}
	case m.Kind == driver.Asked:
		h.hearPlea(pleaNow(m.Plea))
	case m.Kind == driver.Taken:
		c.work.Go(func() { h.lose(whyTold(m)) })
	default:
		h.recall()
	}
}

// hearEarly keeps what was told of the owner under which the one at the front asks, until its grant is here. part.mu is
// held.
func (q *queue) hearEarly(m driver.Message) {
	if m.Kind == driver.Asked {
		q.early = &earlyPlea{Plea: pleaNow(m.Plea), owner: m.Owner}
		return
	}
	if m.Kind == driver.Taken {
		q.early = nil // it was for what is gone
	}
	q.told.Or(messageBit(m.Kind))
}

// messageBit marks a kind of message among others.
func messageBit(k driver.MessageKind) uint32 { return 1 << k }

// wasTold reports whether that was told of the owner under which the one at the front asks.
func (q *queue) wasTold(k driver.MessageKind) bool { return q.told.Load()&messageBit(k) != 0 }
