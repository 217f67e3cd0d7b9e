package coord

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Options adjusts a Coordinator. Zero fields mean the defaults.
type Options struct {
	// Replica names this coordinator among those on one store, for people. Owners
	// are told apart by a random suffix. Default: the host's name.
	Replica string
	// Callers reach participants by the scheme of their targets. Functions need none.
	// Targets of other schemes are refused.
	Callers map[string]Caller
	// Elsewhere accepts functions that are not registered here: other coordinators on
	// the store have them. By default they are refused, because nobody would ever call
	// one whose name is mistyped. Who has one is found by chance: looks are up to half a
	// minute apart, and where one coordinator in n has it, it takes n of them on average.
	Elsewhere bool
	// Limits bounds what a definition may ask for.
	Limits plan.Limits
	// Result bounds what is kept of a participant's answer, in bytes; more is dropped
	// with a note. Default 64 KiB.
	Result int
	// Results bounds what is kept of all answers of one transaction together, in bytes;
	// more is dropped with a note. No call takes over more than that. Default 1 MiB.
	Results int

	// Lease is how long a transaction stays with a coordinator that no longer says
	// anything. Default 5 s; 100 ms to 10 min.
	Lease time.Duration
	// Poll is how often the store is asked for due transactions. Default 500 ms.
	Poll time.Duration
	// Claimers is how many claims may be under way at once. Default 4.
	Claimers int
	// Active bounds the transactions driven at once. Default 4096.
	Active int
	// PerTarget and PerHost bound the calls under way to one target and to one host.
	// Defaults 128 and 512.
	PerTarget, PerHost int

	Retention Retention
	Observer  Observer
	Tracing   Tracing
	// Logger tells of trouble. Default: [slog.Default]; a [slog.DiscardHandler] is silent.
	Logger *slog.Logger
}

// longestReplica leaves room for the suffix that makes an owner of it.
const longestReplica = driver.MaxOwner / 2

// Retention says what becomes of final transactions.
type Retention struct {
	// Keep is how long they stay. Default 7 days; -1: for ever. IDs are known as long
	// as their transactions: one that is submitted again after that is executed again,
	// so keep them for longer than anybody repeats a submit.
	Keep time.Duration
	// Archive receives them before they are deleted; if it fails they stay. It may
	// see a transaction twice.
	Archive func(ctx context.Context, batch []*txn.Transaction) error
}

func (o *Options) withDefaults() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	r.Lease = orDefault(r.Lease, 5*time.Second)
	r.Poll = orDefault(r.Poll, 500*time.Millisecond)
	r.Retention.Keep = orDefault(r.Retention.Keep, 7*24*time.Hour)
	r.Claimers = orDefault(r.Claimers, 4)
	r.Active = orDefault(r.Active, 4096)
	r.PerTarget = orDefault(r.PerTarget, 128)
	r.PerHost = orDefault(r.PerHost, 512)
	r.Result = orDefault(r.Result, 64<<10)
	r.Results = orDefault(r.Results, 1<<20)
	r.Callers = maps.Clone(r.Callers) // read by every call, whatever becomes of the original
	if r.Logger == nil {
		r.Logger = slog.Default()
	}
	if r.Observer == nil {
		r.Observer = quiet{}
	}
	if r.Tracing == nil {
		r.Tracing = quiet{}
	}
	return r, r.check()
}

func (o *Options) check() error {
	switch {
	case o.Lease < 100*time.Millisecond || o.Lease > 10*time.Minute:
		return fmt.Errorf("coord: lease %v: want 100ms to 10m", o.Lease)
	case o.Poll < time.Millisecond || o.Poll > time.Minute:
		return fmt.Errorf("coord: poll %v: want 1ms to 1m", o.Poll)
	case o.Claimers < 1 || o.Claimers > 64:
		return fmt.Errorf("coord: claimers %d: want 1 to 64", o.Claimers)
	case o.Active < 1:
		return fmt.Errorf("coord: active %d: want at least 1", o.Active)
	case o.PerTarget < 1 || o.PerHost < 1:
		return fmt.Errorf("coord: per target %d, per host %d: want at least 1", o.PerTarget, o.PerHost)
	case o.Result < 0:
		return fmt.Errorf("coord: result %d: want 0 (default) or more", o.Result)
	case o.Results < 0:
		return fmt.Errorf("coord: results %d: want 0 (default) or more", o.Results)
	case len(o.Replica) > longestReplica || o.Replica != printable(o.Replica, longestReplica):
		return fmt.Errorf("coord: replica %.40q: want at most %d printable bytes", o.Replica, longestReplica)
	}
	return nil
}

func orDefault[T int | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}
