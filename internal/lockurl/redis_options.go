package lockurl

import (
	"fmt"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/internal/serverurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// redisQuery reads options of locks in Redis.
type redisQuery redislock.Options

// setters read the options, by the names that they have in the query.
func (q *redisQuery) setters() map[string]serverurl.Setter {
	return map[string]serverurl.Setter{
		"ttl": q.setTTL, "profile": q.setProfile, "semaphores": q.setSemaphores, "pubsub": q.setPubSub,
		"acks": q.setAcks, "ack-timeout": q.setAckTimeout, "token-ttl": q.setTokenTTL,
	}
}

func (q *redisQuery) setTTL(v string) string {
	return setDuration(&q.Lock.TTL, v, lock.MinTTL, lock.MaxTTL)
}

func (q *redisQuery) setProfile(v string) string {
	return setChoice(&q.Profile, v, []named[redislock.Profile]{
		{"redisson", redislock.Redisson}, {"redlock", redislock.Redlock},
	})
}

func (q *redisQuery) setSemaphores(v string) string {
	return setChoice(&q.Semaphores, v, []named[redislock.Semaphores]{
		{"expirable", redislock.RPermitExpirableSemaphore}, {"plain", redislock.RSemaphore},
	})
}

func (q *redisQuery) setPubSub(v string) string {
	return setChoice(&q.PubSub, v, []named[redislock.PubSub]{
		{"auto", redislock.PubSubAuto}, {"classic", redislock.PubSubClassic}, {"sharded", redislock.PubSubSharded},
	})
}

func (q *redisQuery) setAcks(v string) string {
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

func (q *redisQuery) setAckTimeout(v string) string {
	return setDuration(&q.AckTimeout, v, redislock.MinAckTimeout, redislock.MaxAckTimeout)
}

func (q *redisQuery) setTokenTTL(v string) string {
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
