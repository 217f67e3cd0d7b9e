package redislock

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/redisnode"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// Inspect implements [driver.Inspector]. It also reads the locks of Redisson,
// which say neither since when they are held nor by which program.
func (b *backend) Inspect(ctx context.Context, name string) (driver.Info, error) {
	info, err := b.inspect(ctx, name)
	if err != nil {
		return driver.Info{}, describe("inspect", name, err)
	}
	return info, nil
}

func (b *backend) inspect(ctx context.Context, name string) (driver.Info, error) {
	if err := checkName(name, b.conn.Cluster()); err != nil {
		return driver.Info{}, err
	}
	k := b.layout.of(name, "")
	keys, args := []string{k.name, k.token, k.channel}, []string{b.pubsub.countCommand(b)}
	for {
		before := b.lingering(name)
		reply, err := b.conn.Eval(ctx, b.scripts.inspect, keys, args)
		if err != nil {
			return driver.Info{}, err
		}
		info, err := readInfo(name, reply)
		if b.lingering(name) != before {
			continue // nobody knows on which side of the change the server has counted
		}
		info.Waiting = max(info.Waiting-before[min(info.Kind, driver.Semaphore)], 0)
		return info, err
	}
}

// lingering returns, by kind, whether this client is subscribed to a channel of the name where nobody waits any
// more.
func (b *backend) lingering(name string) (count [3]int) {
	for kind := range count {
		count[kind] = b.hub.lingering(b.layout.channelOf(name, driver.Kind(kind)))
	}
	return count
}

// readInfo reads the answer of inspect.lua.
func readInfo(name string, answer redisconn.Reply) (driver.Info, error) {
	if answer.Len() < 3 {
		return driver.Info{}, fmt.Errorf("the answer is %d long, not 3 or more", answer.Len())
	}
	info := driver.Info{Name: name, Kind: driver.Kind(answer.At(0).Int)}
	// A counter that is not a number is told as none.
	info.Token, _ = strconv.ParseUint(answer.At(1).Str, 10, 64)
	switch info.Kind {
	case driver.ReadWrite:
		readReadWrite(&info, answer)
	case driver.Semaphore:
		readSemaphore(&info, answer)
	case driver.Latch: // it has no holders, as what is free
	default:
		readMutex(&info, answer)
	}
	if len(info.Holders) == 0 {
		// Who listens to a free lock does not wait for it.
		return driver.Info{Name: name, Token: info.Token, Line: info.Line, Waiting: info.Waiting}, nil
	}
	info.Waiting += int(answer.At(2).Int)
	return info, nil
}

// readMutex reads what inspect.lua says of a mutex.
func readMutex(info *driver.Info, answer redisconn.Reply) {
	holder := driver.Holder{TTL: timeLeft(answer.At(3).Int)}
	passed := false
	readLine(info, answer.At(4))
	for i := 5; i+1 < answer.Len(); i += 2 {
		switch field, value := answer.At(i).Str, answer.At(i+1).Str; {
		case field == "bedrock:meta":
			holder.Meta = value
		case field == "bedrock:token": // others have tokens, too, for when they are granted the lock
			info.Token, _ = strconv.ParseUint(value, 10, 64)
		case field == "bedrock:linger":
			holder.Linger = lingerOf(value)
		case field == "bedrock:passed":
			passed = true
		case !driver.ReservedOwner(field) && holder.Owner == "":
			holder.Owner = field
		}
	}
	if holder.Meta != "" && !passed { // a token that was reserved is older than the grant
		holder.Since = grantedAt(info.Token)
	}
	if holder.Owner != "" {
		info.Holders = []driver.Holder{holder}
	}
}

// lingerOf reads for how long a lock may linger, which stands behind whose it is.
func lingerOf(value string) time.Duration {
	_, text, _ := strings.Cut(value, " ")
	ms, _ := strconv.ParseUint(text, 10, 32)
	return time.Duration(ms) * time.Millisecond
}

// grantedAt reads the time of a grant from its token, which is the server's
// clock in microseconds unless grants were quicker than that, or the clock was
// set back.
func grantedAt(token uint64) time.Time {
	if token < 1e15 || token > 9e15 {
		return time.Time{}
	}
	return time.UnixMicro(int64(token))
}

// endless is less than the time left, in ms, that rw.lua gives a lock that never ends, and more than any lease.
const endless = 1_000_000_000_000

// timeLeft translates PTTL, which says -1 for ever.
func timeLeft(pttl int64) time.Duration {
	if pttl < 0 || pttl >= endless {
		return -1
	}
	return time.Duration(pttl) * time.Millisecond
}

// List implements [driver.Inspector]. It looks at every key of every master
// that begins with prefix, and keeps what looks like a lock and this user may touch.
func (b *backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	var infos []driver.Info
	masters, err := b.conn.Masters(ctx)
	for i := 0; err == nil && i < len(masters) && len(infos) < limit; i++ {
		infos, err = b.listAt(ctx, masters[i], prefix, limit, infos)
	}
	if err != nil {
		return nil, describe("list", prefix, err)
	}
	return infos, nil
}

// scanBatch is how many keys a server looks at before it serves others.
const scanBatch = 500

// listAt adds the locks of one master until there are limit. Redis may name a key twice, so
// they are remembered.
func (b *backend) listAt(
	ctx context.Context, n redisconn.Node, prefix string, limit int, infos []driver.Info,
) ([]driver.Info, error) {
	seen := make(map[string]bool)
	for name, err := range b.namesAt(ctx, n, prefix) {
		if err != nil {
			return nil, err
		}
		if seen[name] || checkName(name, b.conn.Cluster()) != nil {
			continue
		}
		seen[name] = true
		info, err := b.lockAt(ctx, name)
		if err != nil {
			return nil, err
		}
		if len(info.Holders) > 0 {
			infos = append(infos, info)
		}
		if len(infos) >= limit {
			break
		}
	}
	return infos, nil
}

// namesAt goes through what may be the names of locks. A semaphore is known by its permits that are taken.
func (b *backend) namesAt(ctx context.Context, n redisconn.Node, prefix string) iter.Seq2[string, error] {
	itself := func(key string) (string, bool) { return key, true }
	scans := []keyScan{{redisnode.Scan{Prefix: prefix, Type: b.opts.Profile.keyType(), Batch: scanBatch}, itself}}
	if b.opts.Profile == Redisson {
		scans = append(scans, b.semaphoreScans(prefix)...)
	}
	return func(yield func(string, error) bool) {
		for _, s := range scans {
			for key, err := range s.scan.Keys(ctx, n) {
				if name, ok := s.nameOf(key); (ok || err != nil) && !yield(name, err) {
					return
				}
			}
		}
	}
}

// lockAt describes the lock at a key; other data has no holder, nor has what this
// user may not touch.
func (b *backend) lockAt(ctx context.Context, name string) (driver.Info, error) {
	info, err := b.inspect(ctx, name)
	if redisconn.KeyForeign(err) {
		return driver.Info{}, nil
	}
	if !looksLikeLock(&info) {
		info.Holders = nil
	}
	return info, err
}

// looksLikeLock reports whether that is a lock, and not whatever else may be in a hash or
// a string: it has an owner of the usual form, metadata, or a fencing counter.
func looksLikeLock(info *driver.Info) bool {
	if info.Token > 0 || info.Kind == driver.Semaphore {
		return true
	}
	return slices.ContainsFunc(info.Holders, func(h driver.Holder) bool {
		return looksLikeOwner(h.Owner) || h.Meta != "" || info.Kind == driver.ReadWrite && h.Owner != ""
	})
}

// keyType is the Redis type of a lock.
func (p Profile) keyType() string {
	if p == Redlock {
		return "string"
	}
	return "hash"
}

// looksLikeOwner reports whether a text is an owner's ID as this library and Redisson make
// them: the 36 characters of a UUID, and a number.
func looksLikeOwner(text string) bool {
	client, number, _ := strings.Cut(text, ":")
	number, _, _ = strings.Cut(number, ":")
	if len(client) != 36 || strings.Count(client, "-") != 4 {
		return false
	}
	_, err := strconv.ParseUint(number, 10, 64)
	return err == nil
}
