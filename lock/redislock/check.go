package redislock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Check implements [driver.Checker]. It reads the settings of every master from
// INFO, and more from CONFIG where that is allowed.
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	var found []driver.Finding
	err := b.conn.EachMaster(ctx, func(n Node) error {
		s, err := readSettings(ctx, n)
		if err != nil {
			return err
		}
		found = append(found, s.findings(b.opts.Acks)...)
		return nil
	})
	if err != nil {
		return nil, describe("check", "settings", err)
	}
	// What several masters have in common is told once.
	slices.SortStableFunc(found, func(x, y driver.Finding) int {
		return cmp.Or(cmp.Compare(y.Level, x.Level), cmp.Compare(x.What, y.What))
	})
	return slices.Compact(found), nil
}

// settings are a server's settings that matter for locks.
type settings struct {
	info      map[string]string
	config    map[string]string
	forbidden bool // to read config
}

// configs are the settings INFO does not tell.
const configs = "save appendfsync min-replicas-to-write"

func readSettings(ctx context.Context, n Node) (settings, error) {
	s := settings{info: make(map[string]string), config: make(map[string]string)}
	for _, section := range []string{"server", "memory", "persistence", "replication"} {
		reply, err := n.Do(ctx, "INFO", section)
		if err != nil {
			return settings{}, err
		}
		s.addInfo(reply.Str)
	}
	for name := range strings.FieldsSeq(configs) {
		reply, err := n.Do(ctx, "CONFIG", "GET", name)
		if refusal, ok := errors.AsType[*ReplyError](err); ok && errors.Is(refusal.class(), driver.ErrRefused) {
			s.forbidden = true
			return s, nil
		}
		if err != nil {
			return settings{}, err
		}
		if len(reply.Items) == 2 {
			s.config[name] = reply.Items[1].Str
		}
	}
	return s, nil
}

func (s *settings) addInfo(text string) {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			s.info[name] = value
		}
	}
}

// findings judges the settings.
func (s *settings) findings(acks Acks) []driver.Finding {
	found := []driver.Finding{s.version()}
	found = append(found, s.memory()...)
	found = append(found, s.persistence()...)
	found = append(found, s.replication(acks)...)
	if s.forbidden {
		found = append(found, driver.Finding{
			Level: driver.Notice, What: "CONFIG GET is not allowed",
			Means: "appendfsync, save and min-replicas-to-write could not be examined",
		})
	}
	return found
}

// version: fencing tokens need SET with GET, which came with 6.2.
func (s *settings) version() driver.Finding {
	version := s.info["redis_version"]
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
	policy := s.info["maxmemory_policy"]
	what := "maxmemory-policy is " + policy
	switch {
	case policy == "noeviction" || policy == "":
		return nil
	case s.info["maxmemory"] == "0":
		return []driver.Finding{{Level: driver.Notice, What: what + ", without maxmemory", Means: "nothing is evicted while maxmemory is not set"}}
	default:
		return []driver.Finding{{Level: driver.Danger, What: what, Means: "a lock can be evicted while it is held, and granted to a second holder"}}
	}
}

func (s *settings) persistence() []driver.Finding {
	aof := s.info["aof_enabled"] == "1"
	save, known := s.config["save"]
	switch {
	case aof && s.config["appendfsync"] == "always":
		return nil
	case aof:
		return []driver.Finding{{
			Level: driver.Notice, What: "appendfsync is " + cmp.Or(s.config["appendfsync"], "not known"),
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
	replicas := cmp.Or(s.info["connected_slaves"], "0")
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
	if s.config["min-replicas-to-write"] == "0" {
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
		found, err := b.Check(ctx)
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
