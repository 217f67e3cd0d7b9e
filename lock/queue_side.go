package lock

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// A name has one queue in which everybody waits for everybody before, and side queues for those who would wait
// there for what is not in their way. In each the one at the front asks the backend.

// The sides of a read-write lock that have a name.
const (
	overSide        = "over "
	upgradeableSide = "upgradeable"
	humbleSide      = "humble"
)

// sideOf returns where somebody queues. Over is the owner of a grant of this process's over which it is had.
func (c *Client) sideOf(w *want, over string, try bool) string {
	switch {
	case over != "": // those before it may wait for that grant to go
		return overSide + over
	case w.fair:
		return "fair " + strconv.FormatUint(c.owners.Add(1), 36)
	case try && w.hasCompany(): // each asks by itself: who waits, or tries, may want more
		return "try " + strconv.FormatUint(c.owners.Add(1), 36)
	case w.mode == driver.Shared && w.role.includes(upgradeable): // plain readers need not wait for the one there is
		return upgradeableSide
	case w.mode == driver.Write && w.role.includes(humble): // it lets readers go first
		return humbleSide
	case w.mode == driver.Permit: // with a lower limit others may have to wait for longer
		return "of " + strconv.Itoa(int(w.limit))
	default:
		return ""
	}
}

// overOwner returns the owner of the grant that is in nobody's way here; empty if there is none.
func (q *queue) overOwner() string {
	if owner, over := strings.CutPrefix(q.side, overSide); over {
		return owner
	}
	return ""
}

// queueKey is where a part has a queue of a name. No name has such a character.
func queueKey(name, side string) string {
	if side == "" {
		return name
	}
	return name + "\x00" + side
}

// addQueue enters a queue. part.mu is held.
func (p *part) addQueue(q *queue) {
	p.byName[queueKey(q.name, q.side)] = q
	if q.side == "" {
		return
	}
	if p.besides == nil {
		p.besides = make(map[string][]*queue)
	}
	p.besides[q.name] = append(p.besides[q.name], q)
}

// removeQueue takes a queue out. part.mu is held.
func (p *part) removeQueue(q *queue) {
	delete(p.byName, queueKey(q.name, q.side))
	if q.side == "" {
		return
	}
	others := slices.DeleteFunc(p.besides[q.name], func(o *queue) bool { return o == q })
	if p.besides[q.name] = others; len(others) == 0 {
		delete(p.besides, q.name)
	}
}
