package redislock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
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
	for {
		before := b.hub.lingering(k.channel)
		reply, err := b.conn.Eval(ctx, b.scripts.inspect, []string{k.name, k.token, k.channel}, []string{b.pubsub.countCommand(b)})
		if err != nil {
			return driver.Info{}, err
		}
		info, err := readInfo(name, reply.Items)
		if b.hub.lingering(k.channel) != before {
			continue // nobody knows on which side of the change the server has counted
		}
		info.Waiting = max(info.Waiting-before, 0)
		return info, err
	}
}

// readInfo reads the answer of inspect.lua.
func readInfo(name string, answer []Reply) (driver.Info, error) {
	if len(answer) < 3 {
		return driver.Info{}, fmt.Errorf("the answer is %d long, not 3 or more", len(answer))
	}
	info := driver.Info{Name: name}
	// A counter that is not a number is told as none.
	info.Token, _ = strconv.ParseUint(answer[1].Str, 10, 64)
	for i := 3; i+1 < len(answer); i += 2 {
		readField(&info, answer[i].Str, answer[i+1].Str)
	}
	if info.Owner != "" {
		info.TTL = timeLeft(answer[0].Int)
		info.Waiting = int(answer[2].Int) // who listens to a free lock does not wait for it
	}
	return info, nil
}

func readField(info *driver.Info, field, value string) {
	switch {
	case field == "bedrock:meta":
		info.Meta = value
		info.Since = grantedAt(info.Token)
	case !driver.ReservedOwner(field) && info.Owner == "":
		info.Owner = field
	}
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

// timeLeft translates PTTL, which says -1 for ever.
func timeLeft(pttl int64) time.Duration {
	if pttl < 0 {
		return -1
	}
	return time.Duration(pttl) * time.Millisecond
}

// List implements [driver.Inspector]. It looks at every key of every master
// that begins with prefix, and keeps what looks like a lock and this user may touch.
func (b *backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	var infos []driver.Info
	err := b.conn.EachMaster(ctx, func(n Node) error {
		return b.scan(ctx, n, prefix, func(name string) (more bool, err error) {
			info, err := b.lockAt(ctx, name)
			if err == nil && info.Owner != "" {
				infos = append(infos, info)
			}
			return len(infos) < limit, err
		})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, describe("list", prefix, err)
	}
	return infos, nil
}

// errEnough ends a scan early.
var errEnough = errors.New("enough")

// scan calls fn for every key that may be a lock. Redis may name a key twice,
// so they are remembered.
func (b *backend) scan(ctx context.Context, n Node, prefix string, fn func(name string) (bool, error)) error {
	seen := make(map[string]bool)
	for cursor := "0"; ; {
		reply, err := n.Do(ctx, "SCAN", cursor, "MATCH", escapeGlob(prefix)+"*", "COUNT", "500", "TYPE", b.opts.Profile.keyType())
		if err != nil {
			return err
		}
		if len(reply.Items) != 2 {
			return fmt.Errorf("SCAN answered %d items, not 2", len(reply.Items))
		}
		for _, key := range reply.Items[1].Items {
			if seen[key.Str] || checkName(key.Str, b.conn.Cluster()) != nil {
				continue
			}
			seen[key.Str] = true
			more, err := fn(key.Str)
			if err != nil {
				return err
			}
			if !more {
				return errEnough
			}
		}
		if cursor = reply.Items[0].Str; cursor == "0" {
			return nil
		}
	}
}

// lockAt describes the lock at a key; other data has no owner, nor has what this
// user may not touch.
func (b *backend) lockAt(ctx context.Context, name string) (driver.Info, error) {
	info, err := b.inspect(ctx, name)
	reply, ok := errors.AsType[*ReplyError](err)
	if ok && (reply.Code() == "WRONGTYPE" || reply.Code() == "NOPERM" && strings.Contains(reply.Error(), " key")) {
		return driver.Info{}, nil
	}
	if !looksLikeLock(&info) {
		info.Owner = ""
	}
	return info, err
}

// looksLikeLock tells a lock from whatever else may be in a hash or a string: it
// has an owner of the usual form, metadata, or a fencing counter.
func looksLikeLock(info *driver.Info) bool {
	return looksLikeOwner(info.Owner) || info.Meta != "" || info.Token > 0
}

// keyType is the Redis type of a lock.
func (p Profile) keyType() string {
	if p == Redlock {
		return "string"
	}
	return "hash"
}

// looksLikeOwner tells an owner id as this library and Redisson make them: the 36
// characters of a UUID, and a number.
func looksLikeOwner(text string) bool {
	client, number, _ := strings.Cut(text, ":")
	number, _, _ = strings.Cut(number, ":")
	if len(client) != 36 || strings.Count(client, "-") != 4 {
		return false
	}
	_, err := strconv.ParseUint(number, 10, 64)
	return err == nil
}

// escapeGlob makes a prefix stand for itself in a pattern.
func escapeGlob(prefix string) string {
	return strings.NewReplacer(
		`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `-`, `\-`, `!`, `\!`,
	).Replace(prefix)
}
