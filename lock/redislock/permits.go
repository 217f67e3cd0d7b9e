package redislock

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// permits is a grant of a semaphore. Redisson's RPermitExpirableSemaphore has leases; its RSemaphore is a number alone,
// beside which ours have theirs.
type permits struct {
	name, owner string
	count       int
	ids         string // how their IDs begin
	taken       string // the key of all that are taken
}

// semaphoreLife is for how long a semaphore that Bedrock has made is kept when nobody uses it, in ms. Grants,
// renewals and releases are use.
const semaphoreLife = "86400000"

// idPrefix is how much of an ID is the owner's; the rest numbers its permits.
const idPrefix = 12

// idsOf returns how the IDs of an owner's permits begin: 12 of 16 bytes.
func idsOf(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return string(sum[:idPrefix])
}

// acquiring implements crowdHandle.
func (p *permits) acquiring(b *backend, req *driver.Request) redisconn.Call {
	return redisconn.Call{
		Script: b.scripts.permit.acquire,
		Keys: []string{
			p.name, b.layout.of(p.name, "").token, p.taken, b.layout.channelOf(p.name, driver.Semaphore),
			beside(holdersKey, p.name),
		},
		Args: []string{
			b.tokenTTL, b.leaseText(req.TTL), p.owner, strconv.Itoa(max(req.Tokens, 1)), req.Meta,
			strconv.Itoa(p.count), strconv.Itoa(req.Limit), p.ids, b.pubsub.command(b), semaphoreLife,
		},
	}
}

// releasing implements crowdHandle.
func (p *permits) releasing(b *backend, publish string) redisconn.Call {
	return redisconn.Call{
		Script: b.scripts.permit.release,
		Keys: []string{
			p.name, b.layout.channelOf(p.name, driver.Semaphore), b.layout.latchOf(p.name, p.owner), p.taken,
			beside(holdersKey, p.name),
		},
		Args: []string{publish, p.owner, crowdLatch, strconv.Itoa(p.count), p.ids, semaphoreLife},
	}
}

// annotating implements crowdHandle.
func (p *permits) annotating(b *backend, meta string) redisconn.Call {
	return redisconn.Call{
		Script: b.scripts.permit.annotate,
		Keys:   []string{p.taken, b.layout.of(p.name, "").token, beside(holdersKey, p.name)},
		Args:   []string{p.owner, strconv.Itoa(p.count), p.ids, meta, semaphoreLife},
	}
}

// renewing implements crowdHandle.
func (p *permits) renewing(b *backend, call *redisconn.Call, ttl time.Duration) {
	call.Keys = append(call.Keys, p.name, p.taken, beside(holdersKey, p.name))
	call.Args = append(call.Args, strconv.Itoa(p.count), p.ids, b.leaseText(ttl))
}

// mostPermits is how many can be had at once: each is a record of its own, and meanwhile the server does nothing else.
const mostPermits = 4096

// checkPermits refuses what cannot be had of a semaphore here.
func checkPermits(req *driver.Request) error {
	if req.Permits > mostPermits {
		return driver.Refused(input.Errorf("permits", "are %d, allowed on Redis are %d", req.Permits, mostPermits))
	}
	return checkSemaphoreName(req.Name)
}

// checkSemaphoreName refuses a name whose permits would be those of another semaphore.
func checkSemaphoreName(name string) error {
	if inside := strings.TrimSuffix(strings.TrimPrefix(name, "{"), "}"); len(inside) == len(name)-2 &&
		!strings.Contains(inside, "{") {
		return refusedName("%q is a name in braces: its permits would be those of %q", name, inside)
	}
	return nil
}
