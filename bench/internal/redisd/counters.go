package redisd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Counters are a server's totals since it started.
type Counters struct {
	// Commands is how many commands were executed, those inside scripts
	// included and INFO excluded.
	Commands int64
	// Reads is how many times the server read requests from a connection: one
	// for each round trip a client waited for.
	Reads int64
	// Micros is for how many µs each command was executed, by its name. That of a script has that
	// of the commands inside, which are counted by themselves, too.
	Micros map[string]int64
}

// Monitor reads a server's counters over a connection of its own.
type Monitor struct{ rdb *redis.Client }

// Watch connects to the server at addr.
func Watch(ctx context.Context, addr string) (*Monitor, error) {
	m := &Monitor{rdb: redis.NewClient(&redis.Options{Addr: addr, PoolSize: 1})}
	if _, err := m.Read(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// Close disconnects.
func (m *Monitor) Close() error { return m.rdb.Close() }

// Version returns the server's version.
func (m *Monitor) Version(ctx context.Context) (string, error) {
	text, err := m.rdb.Info(ctx, "server").Result()
	if err != nil {
		return "", fmt.Errorf("read server version: %w", err)
	}
	return field(text, "redis_version:"), nil
}

// Read returns the counters.
func (m *Monitor) Read(ctx context.Context) (Counters, error) {
	text, err := m.rdb.Info(ctx, "stats", "commandstats").Result()
	if err != nil {
		return Counters{}, fmt.Errorf("read server counters: %w", err)
	}
	return parse(text)
}

// Since returns what was counted after earlier, without the one call of Read
// that ended the interval.
func (c Counters) Since(earlier Counters) Counters {
	micros := make(map[string]int64, len(c.Micros))
	for name, sum := range c.Micros {
		micros[name] = sum - earlier.Micros[name]
	}
	return Counters{Commands: c.Commands - earlier.Commands, Reads: c.Reads - earlier.Reads - 1, Micros: micros}
}

// Executing returns for how many µs scripts and these commands were executed.
func (c Counters) Executing(commands ...string) (micros int64) {
	for _, name := range append([]string{"eval", "evalsha"}, commands...) {
		micros += c.Micros[name]
	}
	return micros
}

// parse reads the answer to INFO stats commandstats.
func parse(text string) (Counters, error) {
	reads, err := strconv.ParseInt(field(text, "total_reads_processed:"), 10, 64)
	if err != nil {
		return Counters{}, fmt.Errorf("read server counters: total_reads_processed: %w", err)
	}
	c := Counters{Reads: reads, Micros: make(map[string]int64)}
	for line := range strings.Lines(text) {
		stat, found := strings.CutPrefix(line, "cmdstat_")
		if !found || strings.HasPrefix(stat, "info:") {
			continue
		}
		calls, err := number(stat, ":calls=")
		micros, err2 := number(stat, ",usec=")
		if err := errors.Join(err, err2); err != nil {
			return Counters{}, fmt.Errorf("read server counters: %s: %w", line, err)
		}
		name, _, _ := strings.Cut(stat, ":")
		c.Commands += calls
		c.Micros[name] = micros
	}
	return c, nil
}

// number reads one of a line such as get:calls=12,usec=34.
func number(stat, label string) (int64, error) {
	_, rest, _ := strings.Cut(stat, label)
	text, _, _ := strings.Cut(rest, ",")
	return strconv.ParseInt(text, 10, 64)
}

// field returns what follows prefix on its line.
func field(text, prefix string) string {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, prefix); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
