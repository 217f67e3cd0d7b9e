package lock

import (
	"cmp"
	"log/slog"
	"maps"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// The limits of a lock: how long its name may be, in bytes, and how short or long a lease.
const (
	MaxName = driver.MaxName
	MinTTL  = driver.MinTTL
	MaxTTL  = driver.MaxTTL
)

// Options configure a [Client]. The zero value and nil mean the defaults.
type Options struct {
	// TTL is how long a lease lives without renewal: how long others wait when
	// a holder dies. Between [MinTTL] and [MaxTTL]. Defaults to 30 s.
	TTL time.Duration
	// Patience is how long Lock goes on asking a backend that does not answer, or
	// fails, before it reports the backend's error. An answer that comes when the lease
	// is over already counts as none. -1 means not at all. Defaults to 10 s.
	//
	// For one answer Lock, TryLock and Unlock wait for half of it, but 5 s at most; what a
	// later answer grants is given back, and an unlock goes on in the background. With -1
	// that is 5 s.
	//
	// A request that is made shortly before its end has 250 ms to be answered, as from a healthy
	// backend, but no more than half of it: Lock may take that much longer.
	//
	// It counts from the first request without an answer. Whoever waits for a holder asks
	// when told of a release, or when the holder's time is up, at most 30 s later.
	Patience time.Duration
	// HandOff bounds how long a process may pass a lock on among its own
	// goroutines.
	HandOff HandOff
	// Linger lets a lock stay with the client for so long after an Unlock that nobody here waits for: the next
	// Lock of that name, for the same, has it again without asking the backend. Only names linger that came
	// back as quickly twice before, that nobody else has wanted for a second or two, and none beyond 100 ms after
	// it was granted. Between 1 ms and 100 ms; defaults to 0, off.
	//
	// Somebody else who wants the lock is refused first; the backend tells this client, which gives it back
	// at once. That costs the other one two round trips more, and a TryLock is refused. An Unlock that lingers
	// does not ask the backend, so it does not tell of a loss that only the backend knows of. When
	// the process dies while the lock lingers, others wait for its TTL, as if it had been held. It is not for
	// names that somebody wants who only looks now and then and says nothing, such as Redisson's spin lock: that
	// one finds it free for moments only. Backends that cannot tell this client let nothing linger: see
	// [driver.Notifier].
	Linger time.Duration
	// Meta is stored beside every grant for people to read, in addition to "host" and
	// "pid", which are always those of the process. All of it, and what a lock adds, is at
	// most [driver.MaxMeta] bytes, 4096, as JSON.
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
// that wait go first. What is got by asking anew counts, too, and is asked for within 10 ms,
// however long Time is.
type HandOff struct {
	// Count is how many leases one grant may serve. -1 switches local hand-off
	// off. Defaults to 256, at most 65536.
	Count int
	// Time is how long one grant may be passed on. Defaults to 10 ms. The backend is not
	// asked meanwhile: if it has lost the grant, those who had the lock in between are
	// not told, only whoever has it at the next renewal, or gives it back.
	Time time.Duration
}

// maxHandOff is how many tokens can be reserved at a time: every lease has one.
const maxHandOff = driver.MaxTokens

const defaultPatience = 10 * time.Second

// withDefaults returns a valid copy with every default filled in.
func (o *Options) withDefaults() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	filled.Meta = maps.Clone(filled.Meta) // read for every mutex, whatever becomes of the original
	filled.TTL = cmp.Or(filled.TTL, 30*time.Second)
	filled.Patience = cmp.Or(filled.Patience, defaultPatience)
	filled.HandOff.Time = cmp.Or(filled.HandOff.Time, 10*time.Millisecond)
	filled.HandOff.Count = cmp.Or(filled.HandOff.Count, 256)
	if filled.HandOff.Count == -1 {
		filled.HandOff.Count = 1
	}
	if filled.Logger == nil {
		filled.Logger = slog.Default()
	}
	if filled.Observer != nil {
		filled.Observer = guardObserver(filled.Observer, filled.Logger)
	}
	return filled, filled.validate()
}

func (o *Options) validate() error {
	if o.Patience != -1 && o.Patience < leastTime {
		return input.Errorf("patience",
			"is %s, allowed are %s and longer; use -1 to give up at once", o.Patience, leastTime)
	}
	if o.HandOff.Count < 1 || o.HandOff.Count > maxHandOff {
		return input.Errorf("handOff.count", "is %d, allowed are 1 to %d, and -1 for off", o.HandOff.Count, maxHandOff)
	}
	if o.Linger != 0 && (o.Linger < leastTime || o.Linger > longestLinger) {
		return input.Errorf("linger", "is %s, allowed are %s to %s, and 0 for off", o.Linger, leastTime, longestLinger)
	}
	return cmp.Or(checkTime("handOff.time", o.HandOff.Time), checkMeta(o.Meta))
}

// leastTime is the shortest time an option can say. What is shorter was not meant: a number without
// its unit, 30 for 30 s, is that many nanoseconds.
const leastTime = time.Millisecond

// checkTime refuses a time that an option cannot say; 0 is for nothing said.
func checkTime(field string, d time.Duration) error {
	if d != 0 && d < leastTime {
		return input.Errorf(field, "is %s, allowed are %s and longer", d, leastTime)
	}
	return nil
}
