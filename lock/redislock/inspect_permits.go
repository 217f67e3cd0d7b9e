package redislock

import (
	"strings"

	"github.com/bedrock-go/bedrock/internal/redisnode"
)

// keyScan is how locks are found by keys.
type keyScan struct {
	scan   redisnode.Scan
	nameOf func(key string) (name string, ok bool)
}

// semaphoreScans finds semaphores by their permits that are taken.
func (b *backend) semaphoreScans(prefix string) []keyScan {
	if b.opts.Semaphores == RSemaphore {
		return []keyScan{
			{redisnode.Scan{Prefix: permitsKey + "{" + prefix, Type: "zset", Batch: scanBatch}, ourPlainPermits},
			{redisnode.Scan{Prefix: permitsKey + prefix, Type: "zset", Batch: scanBatch}, ourTaggedPermits},
		}
	}
	return []keyScan{
		{redisnode.Scan{Prefix: "{" + prefix, Type: "zset", Batch: scanBatch}, plainSemaphore},
		{redisnode.Scan{Prefix: prefix, Type: "zset", Batch: scanBatch}, taggedSemaphore},
	}
}

// ourPlainPermits returns the RSemaphore of which ours have permits by that key, if its name has no braces.
func ourPlainPermits(key string) (name string, ok bool) {
	name, ok = strings.CutPrefix(key, permitsKey+"{")
	name, plain := strings.CutSuffix(name, "}")
	return name, ok && plain && !strings.Contains(name, "{")
}

// ourTaggedPermits is ourPlainPermits for names with braces.
func ourTaggedPermits(key string) (name string, ok bool) {
	name, ok = strings.CutPrefix(key, permitsKey)
	name, tagged := strings.CutSuffix(name, ":tagged")
	return name, ok && tagged && checkSemaphoreName(name) == nil
}

// plainSemaphore returns the semaphore whose permits that are taken are in that key, if its name has no braces.
func plainSemaphore(key string) (name string, ok bool) {
	name, ok = strings.CutSuffix(key, "}:timeout")
	name, tagged := strings.CutPrefix(name, "{")
	return name, ok && tagged && !strings.Contains(name, "{")
}

// taggedSemaphore is plainSemaphore for names with braces.
func taggedSemaphore(key string) (name string, ok bool) {
	name, ok = strings.CutSuffix(key, ":timeout")
	return name, ok && strings.Contains(name, "{") && checkSemaphoreName(name) == nil
}
