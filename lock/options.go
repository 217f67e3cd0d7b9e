package lock

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"strconv"
	"time"
)

// The limits of a lease.
const (
	MinTTL = 10 * time.Millisecond
	MaxTTL = 24 * time.Hour
)

// Options configure a [Client]. The zero value and nil mean the defaults.
type Options struct {
	// TTL is how long a lease lives without renewal: how long others wait when
	// a holder dies. Between [MinTTL] and [MaxTTL]. Defaults to 30 s.
	TTL time.Duration
	// Patience is how long Lock goes on asking a backend that does not answer
	// before it reports the backend's error. An answer that comes when the lease is
	// over already counts as none. -1 means not at all. Defaults to 10 s.
	Patience time.Duration
	// HandOff bounds how long a process may pass a lock on among its own
	// goroutines.
	HandOff HandOff
	// Meta is stored beside every grant for people to read, in addition to
	// "host" and "pid".
	Meta map[string]string
	// Observer is told what happens to every lock. Defaults to none.
	Observer Observer
	// Logger gets what nobody else is told: lost locks, failed clean-up. Defaults to
	// [slog.Default]; a [slog.DiscardHandler] is silent.
	Logger *slog.Logger
}

// HandOff is the budget of a process's turn: an unlock passes the lock to the next
// goroutine of the same process that waits for it, without asking the backend,
// until Count leases or Time are used up. Then other processes get their turn: those
// that wait go first. What is got by asking anew counts, too.
type HandOff struct {
	// Count is how many leases one grant may serve. -1 switches local hand-off
	// off. Defaults to 256, at most 65536.
	Count int
	// Time is how long one grant may be passed on. Defaults to 10 ms. The backend is not
	// asked meanwhile: if it has lost the grant, those who had the lock in between are
	// not told, only whoever has it at the next renewal, or gives it back.
	Time time.Duration
}

const maxHandOff = 1 << 16

// withDefaults returns a valid copy with every default filled in.
func (o *Options) withDefaults() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	filled.Meta = maps.Clone(filled.Meta) // read for every mutex, whatever becomes of the original
	filled.TTL = orDefault(filled.TTL, 30*time.Second)
	filled.Patience = orDefault(filled.Patience, 10*time.Second)
	filled.HandOff.Time = orDefault(filled.HandOff.Time, 10*time.Millisecond)
	filled.HandOff.Count = orDefault(filled.HandOff.Count, 256)
	if filled.HandOff.Count == -1 {
		filled.HandOff.Count = 1
	}
	if filled.Logger == nil {
		filled.Logger = slog.Default()
	}
	return filled, filled.validate()
}

func (o *Options) validate() error {
	if err := checkTTL(o.TTL); err != nil {
		return err
	}
	if o.Patience < -1 {
		return &InvalidError{"Patience", fmt.Sprintf("is %s; use -1 to give up at once", o.Patience)}
	}
	if o.HandOff.Count < 1 || o.HandOff.Count > maxHandOff {
		return &InvalidError{"HandOff.Count", fmt.Sprintf("is %d, allowed are 1 to %d, and -1 for off", o.HandOff.Count, maxHandOff)}
	}
	if o.HandOff.Time < 0 {
		return &InvalidError{"HandOff.Time", fmt.Sprintf("is %s, it cannot be negative", o.HandOff.Time)}
	}
	return nil
}

func checkTTL(ttl time.Duration) error {
	if ttl < MinTTL || ttl > MaxTTL {
		return &InvalidError{"TTL", fmt.Sprintf("is %s, allowed are %s to %s", ttl, MinTTL, MaxTTL)}
	}
	return nil
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// processMeta describes this process.
func processMeta(extra map[string]string) map[string]string {
	meta := map[string]string{"pid": strconv.Itoa(os.Getpid())}
	if host, err := os.Hostname(); err == nil {
		meta["host"] = host
	}
	maps.Copy(meta, extra)
	return meta
}

// encodeMeta writes metadata the way it is stored; decodeMeta reads it back,
// also when somebody else wrote it.
func encodeMeta(meta map[string]string) string {
	text, err := json.Marshal(meta)
	if err != nil {
		return "" // a map of strings always marshals
	}
	return string(text)
}

func decodeMeta(text string) map[string]string {
	if text == "" {
		return nil
	}
	var meta map[string]string
	if json.Unmarshal([]byte(text), &meta) != nil {
		return map[string]string{"meta": text}
	}
	return meta
}
