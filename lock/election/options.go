package election

import (
	"cmp"
	"log/slog"
	"maps"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
)

// Options configure an [Election]. The zero value and nil mean the defaults.
type Options struct {
	// TTL is how long a term lives without renewal: how long there is no leader when one has died. Defaults to
	// the client's, which is 30 s unless it says otherwise.
	TTL time.Duration
	// Meta is what observers are told of the leader, such as its address, beside "host" and "pid", which are always
	// those of its process. All of it, and the client's, is at most 4096 bytes as JSON.
	Meta map[string]string
	// Fair makes who has campaigned for longest the next leader, see [lock.MutexOptions.Fair]. All who take part
	// should be fair, or none.
	Fair bool
	// MaxHold is how long a term lasts at most: then it is lost, and others can lead. From 10 ms to 1000 h. Defaults
	// to no limit.
	MaxHold time.Duration
	// Pause is for how long, about, [Election.Lead] lets others go first when its term was lost, or a campaign
	// has failed, before it campaigns again. At least 1 ms; -1 is for no pause, but 100 ms after a campaign
	// that has failed. Defaults to 1 s.
	Pause time.Duration
	// Logger gets what nobody else is told: campaigns of Lead that have failed, and what its function has returned
	// when its term was lost. Defaults to [slog.Default]; a [slog.DiscardHandler] is silent.
	Logger *slog.Logger
}

const (
	leastPause    = time.Millisecond
	pauseOfFailed = 100 * time.Millisecond // after a campaign that has failed, at least
	// leastTerm is the shortest term. One that has a minimum is had for nobody else: what a lock's next holder in
	// this process would be handed is a term of the same owner, and others would not tell it from the one before.
	leastTerm = time.Millisecond
)

// withDefaults returns a copy with every default filled in, and what is wrong with it.
func (o *Options) withDefaults() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	filled.Meta = maps.Clone(filled.Meta)
	filled.Pause = cmp.Or(filled.Pause, time.Second)
	if filled.Logger == nil {
		filled.Logger = slog.Default()
	}
	if filled.Pause != -1 && (filled.Pause < leastPause || filled.Pause > lock.MaxTTL) {
		return filled, input.Errorf("pause",
			"is %s, allowed are %s to %s; use -1 for none", filled.Pause, leastPause, lock.MaxTTL)
	}
	return filled, nil
}

// mutex returns the lock that the leader has.
func (o *Options) mutex(locks *lock.Client, name string) *lock.Mutex {
	return locks.Mutex(name, &lock.MutexOptions{
		TTL: o.TTL, Meta: o.Meta, Fair: o.Fair, MaxHold: o.MaxHold, MinHold: leastTerm,
	})
}
