package coord

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/printable"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Options adjusts a Coordinator. Zero fields mean the defaults.
type Options struct {
	// Replica names this coordinator among those on one store, for people. Owners
	// are told apart by a random suffix. Default: the host's name.
	Replica string
	// Callers reach participants by the scheme of their targets. Functions need none.
	// Targets of schemes that none of them names are refused.
	Callers []txn.Caller
	// Elsewhere accepts functions that are not registered here: other coordinators on the
	// store have them. By default they are refused, because nobody would ever call one
	// whose name is mistyped. Which coordinator has one is found by trying: tries are up to
	// half a minute apart, and where one coordinator in n has it, it takes n of them on
	// average.
	Elsewhere bool
	// Limits bounds what a definition may ask for.
	Limits check.Limits
	// Result bounds what is kept of a participant's answer, in bytes; more is dropped
	// with a note. Default 64 KiB.
	Result int
	// Results bounds what is kept of all answers of one transaction together, in bytes;
	// more is dropped with a note. No call takes over more than that. Default 1 MiB.
	Results int

	// Lease is how long a transaction stays with a coordinator that has fallen silent.
	// Default 5 s; 100 ms to 10 min.
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

// MinLease and MaxLease are the limits of Options.Lease.
const (
	MinLease = 100 * time.Millisecond
	MaxLease = 10 * time.Minute
)

const (
	maxClaimers = 64
	maxBranches = 1_000_000
)

// MinKeep and MaxKeep are the limits of [Retention]: whoever has submitted a transaction must
// find it for a moment, and dates of a century ago are as far as every store goes.
const (
	MinKeep = 100 * time.Millisecond
	MaxKeep = 100 * 365 * 24 * time.Hour
)

// longestReplica leaves room for the suffix that makes an owner of it.
const longestReplica = driver.MaxOwner / 2

// Retention says what becomes of final transactions.
type Retention struct {
	// Keep is how long they stay. Default 7 days; [MinKeep] to [MaxKeep]; -1: for ever. IDs are known as long
	// as their transactions: one that is submitted again after that is executed again,
	// so keep them for longer than anybody repeats a submit.
	Keep time.Duration
	// Archive receives them before they are deleted; if it fails, or panics, they stay. It
	// may see a transaction twice.
	Archive func(ctx context.Context, batch []*txn.Transaction) error
}

func (o *Options) withDefaults() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	r.Lease = cmp.Or(r.Lease, 5*time.Second)
	r.Poll = cmp.Or(r.Poll, 500*time.Millisecond)
	r.Retention.Keep = cmp.Or(r.Retention.Keep, 7*24*time.Hour)
	r.Claimers = cmp.Or(r.Claimers, 4)
	r.Active = cmp.Or(r.Active, 4096)
	r.PerTarget = cmp.Or(r.PerTarget, 128)
	r.PerHost = cmp.Or(r.PerHost, 512)
	r.Result = cmp.Or(r.Result, 64<<10)
	r.Results = cmp.Or(r.Results, 1<<20)
	if r.Logger == nil {
		r.Logger = slog.Default()
	}
	if r.Observer == nil {
		r.Observer = quiet{}
	} else {
		r.Observer = guardObserver(r.Observer, r.Logger)
	}
	if r.Tracing == nil {
		r.Tracing = quiet{}
	}
	return r, r.check()
}

// check returns an error that names the first option that makes no sense.
func (o *Options) check() error {
	switch {
	case o.Lease < MinLease || o.Lease > MaxLease:
		return outside("lease", o.Lease, MinLease, MaxLease)
	case o.Poll < time.Millisecond || o.Poll > time.Minute:
		return outside("poll", o.Poll, time.Millisecond, time.Minute)
	case !o.Retention.isPossible():
		problem := fmt.Sprintf("%v: want %v to %v, or -1", o.Retention.Keep, MinKeep, MaxKeep)
		return &input.Error{Field: "retention.keep", Problem: problem}
	case o.Claimers < 1 || o.Claimers > maxClaimers:
		return outside("claimers", o.Claimers, 1, maxClaimers)
	case o.Limits.Branches < 0 || o.Limits.Branches > maxBranches:
		return outside("limits.branches", o.Limits.Branches, 0, maxBranches)
	case o.Limits.Timeout != 0 && o.Limits.Timeout < time.Millisecond: // no time-out would be within it
		problem := fmt.Sprintf("%v: want 0 (default) or 1ms or more", o.Limits.Timeout)
		return &input.Error{Field: "limits.timeout", Problem: problem}
	case len(o.Replica) > longestReplica || o.Replica != printable.Line(o.Replica, longestReplica):
		problem := fmt.Sprintf("%.40q: want at most %d printable bytes", o.Replica, longestReplica)
		return &input.Error{Field: "replica", Problem: problem}
	}
	for _, count := range [...]struct {
		field       string
		value, from int
	}{
		{"active", o.Active, 1},
		{"perTarget", o.PerTarget, 1},
		{"perHost", o.PerHost, 1},
		{"result", o.Result, 0},
		{"results", o.Results, 0},
		{"limits.payload", o.Limits.Payload, 0},
		{"limits.headers", o.Limits.Headers, 0},
	} {
		if count.value < count.from {
			return input.Errorf(count.field, "%d: want at least %d", count.value, count.from)
		}
	}
	return nil
}

func (r *Retention) isPossible() bool {
	return r.Keep == -1 || r.Keep >= MinKeep && r.Keep <= MaxKeep
}

func outside(field string, value, least, most any) error {
	return input.Errorf(field, "%v: want %v to %v", value, least, most)
}
