package redislock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/redisnode"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// Check implements [driver.Checker]. It reads the settings of every master from
// INFO, and more from CONFIG where that is allowed.
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	found, err := b.examine(ctx)
	if err != nil {
		return nil, err
	}
	return worstFirst(append(found, b.inbox.findings(ctx)...)), nil
}

// examine reads the settings of every master, and says what they mean.
func (b *backend) examine(ctx context.Context) ([]driver.Finding, error) {
	masters, err := b.conn.Masters(ctx)
	if err != nil {
		return nil, describe("check", "settings", err)
	}
	var found []driver.Finding
	for _, master := range masters {
		s, err := readSettings(ctx, master)
		if err != nil {
			return nil, describe("check", "settings", err)
		}
		found = append(found, s.findings(b.opts.Acks)...)
	}
	return worstFirst(found), nil
}

// worstFirst sorts findings. What several masters have in common is told once.
func worstFirst(found []driver.Finding) []driver.Finding {
	slices.SortStableFunc(found, func(x, y driver.Finding) int {
		return cmp.Or(cmp.Compare(y.Level, x.Level), cmp.Compare(x.What, y.What))
	})
	return slices.Compact(found)
}

// settings are a server's settings that matter for locks.
type settings redisnode.Settings

func readSettings(ctx context.Context, n redisconn.Node) (settings, error) {
	s, err := redisnode.ReadSettings(ctx, n,
		[]string{"server", "memory", "persistence", "replication"},
		[]string{"save", "appendfsync", "min-replicas-to-write"}) // INFO does not tell these
	return settings(s), err
}

// findings judges the settings.
func (s *settings) findings(acks Acks) []driver.Finding {
	found := []driver.Finding{s.version()}
	found = append(found, s.memory()...)
	found = append(found, s.persistence()...)
	found = append(found, s.replication(acks)...)
	if s.Forbidden {
		found = append(found, driver.Finding{
			Level: driver.Notice, What: "CONFIG GET is not allowed",
			Means: "appendfsync, save and min-replicas-to-write could not be examined",
		})
	}
	return found
}

// version: fencing tokens need SET with GET, which came with 6.2.
func (s *settings) version() driver.Finding {
	version := s.Info["redis_version"]
	f := driver.Finding{Level: driver.OK, What: "redis_version is " + version}
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	// What cannot be read counts as 0, too old.
	x, _ := strconv.Atoi(major)
	y, _ := strconv.Atoi(minor)
	if x < 6 || x == 6 && y < 2 {
		f.Level, f.Means = driver.Danger, "locks cannot be taken: fencing tokens need Redis 6.2 or later"
	}
	return f
}

func (s *settings) memory() []driver.Finding {
	policy := s.Info["maxmemory_policy"]
	what := "maxmemory-policy is " + policy
	switch {
	case policy == "noeviction" || policy == "":
		return nil
	case s.Info["maxmemory"] == "0":
		return []driver.Finding{{
			Level: driver.Notice, What: what + ", without maxmemory",
			Means: "nothing is evicted while maxmemory is not set",
		}}
	default:
		return []driver.Finding{{
			Level: driver.Danger, What: what,
			Means: "a lock can be evicted while it is held, and granted to a second holder",
		}}
	}
}

func (s *settings) persistence() []driver.Finding {
	aof := s.Info["aof_enabled"] == "1"
	save, known := s.Config["save"]
	switch {
	case aof && s.Config["appendfsync"] == "always":
		return nil
	case aof:
		return []driver.Finding{{
			Level: driver.Notice, What: "appendfsync is " + cmp.Or(s.Config["appendfsync"], "not known"),
			Means: "after a power failure the grants of the last second are forgotten, and can be given twice",
		}}
	case known && save == "":
		return []driver.Finding{{
			Level: driver.Warning, What: "nothing is persisted (appendonly no, save \"\")",
			Means: "after a restart all grants are forgotten, and can be given twice",
		}}
	default:
		return []driver.Finding{{
			Level: driver.Warning, What: "only snapshots are persisted (appendonly no)",
			Means: "after a crash the grants since the last snapshot are forgotten, and can be given twice",
		}}
	}
}

func (s *settings) replication(acks Acks) []driver.Finding {
	replicas := cmp.Or(s.Info["connected_slaves"], "0")
	if replicas == "0" {
		return nil
	}
	var found []driver.Finding
	if acks == AcksNone {
		found = append(found, driver.Finding{
			Level: driver.Warning, What: fmt.Sprintf("%s replicas, and Acks is off", replicas),
			Means: "a grant the promoted replica has not got is lost in a fail-over, and can be given twice",
		})
	}
	if s.Config["min-replicas-to-write"] == "0" {
		found = append(found, driver.Finding{
			Level: driver.Notice, What: "min-replicas-to-write is 0",
			Means: "a master cut off from its replicas goes on granting locks until it is told to stop",
		})
	}
	return found
}

// checkTime bounds the check made in the background.
const checkTime = 10 * time.Second

// checkOnce examines the settings after the first answer, in the background,
// and logs what makes locks unsafe.
func (b *backend) checkOnce() {
	if b.opts.Lock.Logger == nil || b.checked.Load() || !b.checked.CompareAndSwap(false, true) {
		return
	}
	b.hub.aside(func() {
		ctx, cancel := context.WithTimeout(b.background, checkTime)
		defer cancel()
		found, err := b.examine(ctx)
		if err != nil {
			b.opts.Lock.Logger.Debug("redislock: settings not examined", "err", err)
		}
		for _, f := range found {
			if f.Level >= driver.Warning {
				b.opts.Lock.Logger.Warn("redislock: "+f.What, "level", f.Level.String(), "means", f.Means)
			}
		}
	})
}
