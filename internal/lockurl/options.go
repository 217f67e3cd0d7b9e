package lockurl

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/internal/redisurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// LockOptions are those of locks on the Redis: the URL's, and opts, whose TTL goes before
// that of the URL.
func (l *Location) LockOptions(opts lock.Options) *redislock.Options {
	o := l.Options
	opts.TTL = cmp.Or(opts.TTL, o.Lock.TTL)
	o.Lock = opts
	return &o
}

// query reads options of locks.
type query redislock.Options

// setters read the options, by the names that they have in the query.
func (q *query) setters() map[string]redisurl.Setter {
	return map[string]redisurl.Setter{
		"ttl": q.setTTL, "profile": q.setProfile, "semaphores": q.setSemaphores, "pubsub": q.setPubSub,
		"acks": q.setAcks, "ack-timeout": q.setAckTimeout, "token-ttl": q.setTokenTTL,
	}
}

func (q *query) setTTL(v string) string {
	return setDuration(&q.Lock.TTL, v, lock.MinTTL, lock.MaxTTL)
}

func (q *query) setProfile(v string) string {
	switch v {
	case "redisson":
		q.Profile = redislock.Redisson
	case "redlock":
		q.Profile = redislock.Redlock
	default:
		return "is neither redisson nor redlock"
	}
	return ""
}

func (q *query) setSemaphores(v string) string {
	switch v {
	case "expirable":
		q.Semaphores = redislock.RPermitExpirableSemaphore
	case "plain":
		q.Semaphores = redislock.RSemaphore
	default:
		return "is neither expirable nor plain"
	}
	return ""
}

func (q *query) setPubSub(v string) string {
	switch v {
	case "auto":
		q.PubSub = redislock.PubSubAuto
	case "classic":
		q.PubSub = redislock.PubSubClassic
	case "sharded":
		q.PubSub = redislock.PubSubSharded
	default:
		return "is none of auto, classic, sharded"
	}
	return ""
}

func (q *query) setAcks(v string) string {
	switch v {
	case "majority":
		q.Acks = redislock.AckMajority
		return ""
	case "all":
		q.Acks = redislock.AckAll
		return ""
	}
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil || n > redislock.MaxAcks {
		return fmt.Sprintf("is none of majority, all, 0 to %d", redislock.MaxAcks)
	}
	q.Acks = redislock.Acks(n)
	return ""
}

func (q *query) setAckTimeout(v string) string {
	return setDuration(&q.AckTimeout, v, redislock.MinAckTimeout, redislock.MaxAckTimeout)
}

func (q *query) setTokenTTL(v string) string {
	if v == "-1" {
		q.TokenTTL = -1
		return ""
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < redislock.MinTokenTTL {
		return fmt.Sprintf("is neither -1 (for ever) nor a duration of %s or more", redislock.MinTokenTTL)
	}
	q.TokenTTL = d
	return ""
}

func setDuration(field *time.Duration, v string, least, most time.Duration) string {
	d, err := time.ParseDuration(v)
	if err != nil || d < least || d > most {
		return fmt.Sprintf("is not a duration from %s to %s", least, most)
	}
	*field = d
	return ""
}
