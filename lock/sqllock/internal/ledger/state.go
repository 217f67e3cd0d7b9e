// Package ledger decides who has a lock. It knows neither a database nor a clock: what a store keeps of one name is a
// [State], and every request is a function of that, the time, and what is asked. Whoever runs it sees to it that one
// request of a name is decided after the other, and that what has changed is written in the same step.
//
// Files: state.go is what is kept; acquire.go decides of mutexes, crowd.go of read-write locks and semaphores, line.go
// of fair locks, vote.go of what is asked of one of several stores; release.go, renew.go and change.go of grants there
// are; latch.go of latches; describe.go tells people of it.
package ledger

import (
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Clock is what time it is for a store.
type Clock struct {
	// Now is the clock that leases end by, in microseconds.
	Now int64
	// Wall is the time of day in microseconds since 1970, by which tokens begin and people read.
	Wall int64
	// Age is for how long the store has kept all that it was told.
	Age time.Duration
}

// Role is what an entry is about.
type Role uint8

// The roles.
const (
	Holder Role = iota // has the name
	Writer             // waits to write, and keeps readers off who come later
	Reader             // waits to read
	InTurn             // is a reader that goes before the next writer
	InLine             // waits for a fair lock
	Answer             // is no owner but the ID of a call of a latch, and what it was told
)

// String returns what the role is called in a table.
func (r Role) String() string {
	return [...]string{"holder", "writer waiting", "reader waiting", "reader's turn", "in line", "answer"}[r]
}

// ParseRole reads what [Role.String] returns.
func ParseRole(text string) (Role, bool) {
	for r := range Answer + 1 {
		if r.String() == text {
			return r, true
		}
	}
	return 0, false
}

// Entry is what is kept of somebody who has a name, or waits for it.
type Entry struct {
	Role        Role
	Owner       string
	Mode        driver.Mode
	Permits     int // of an answer, what was left
	Upgradeable bool
	Token       uint64 // the first
	Tokens      int
	Since       int64 // by the wall clock
	Until       int64 // by the clock of leases
	Place       int64 // in line: who has come later has a higher one
	Meta        string
	Client      string // the process that has it, in words of the store
}

// State is what is kept of a name.
type State struct {
	Name string
	// Token is the newest given out; of a name that is not Known, one that is below all to come.
	Token uint64
	Known bool
	// Limit is that of a semaphore, the one asked for last.
	Limit int
	// Count is that of a latch.
	Count int
	// Freed are the owners that have given the name back last, the newest first.
	Freed []string
	// Touched is when a request has last changed anything, by the wall clock.
	Touched int64
	Entries []Entry

	// Wakes says whom a change concerns, and Forgotten that nothing of the name is kept any more but how high its
	// tokens were. Neither is kept.
	Wakes     Wakes
	Forgotten bool
}

// Wakes is who is to be told of a change.
type Wakes struct {
	// All says that whoever listens for the name is.
	All bool
	// Turn is the owner whose turn it may be.
	Turn string
}

// maxFreed is how many owners are remembered who have released a name, so that a repeated release is recognised.
const maxFreed = 16

// inMicros rounds up: a lease must not end before its holder thinks it does.
func inMicros(d time.Duration) int64 { return int64((d + time.Microsecond - 1) / time.Microsecond) }

// endAfter is when something ends that begins now.
func (c *Clock) endAfter(d time.Duration) int64 { return c.Now + inMicros(d) }

// timeLeft is how long something goes on; it may be over by now.
func (c *Clock) timeLeft(until int64) time.Duration {
	return max(time.Duration(until-c.Now)*time.Microsecond, 1)
}

// prune drops what is over.
func (s *State) prune(c *Clock) {
	s.remove(func(e *Entry) bool { return e.Until <= c.Now })
	if !slices.ContainsFunc(s.Entries, func(e Entry) bool {
		return e.Role == Holder && e.Mode != driver.Exclusive || e.Role == Writer || e.Role == InTurn
	}) {
		s.remove(func(e *Entry) bool { return e.Role == Reader }) // there is nothing they could wait for
	}
}

func (s *State) remove(which func(e *Entry) bool) {
	s.Entries = slices.DeleteFunc(s.Entries, func(e Entry) bool { return which(&e) })
}

func (s *State) removeEntry(role Role, owner string) (was bool) {
	before := len(s.Entries)
	s.remove(func(e *Entry) bool { return e.Role == role && e.Owner == owner })
	return len(s.Entries) < before
}

// find returns the entry of an owner, nil if there is none.
func (s *State) find(role Role, owner string) *Entry {
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Role == role && e.Owner == owner {
			return e
		}
	}
	return nil
}

// firstOf returns the first entry of a role, nil if there is none.
func (s *State) firstOf(role Role) *Entry {
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Role == role {
			return e
		}
	}
	return nil
}

// holders returns those who have the name.
func (s *State) holders() []*Entry {
	var all []*Entry
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Role == Holder {
			all = append(all, e)
		}
	}
	return all
}

// holderOf returns what the owner of a grant has, nil if that is nothing. The grant's mode may be one of before.
func (s *State) holderOf(g *driver.Grant) *Entry {
	e := s.find(Holder, g.Owner)
	if e == nil || e.Mode.Kind() != g.Mode.Kind() {
		return nil
	}
	return e
}

// Kind is what the name is at the moment; a mutex if nobody has it.
func (s *State) Kind() driver.Kind {
	if s.Count > 0 {
		return driver.Latch
	}
	if e := s.firstOf(Holder); e != nil {
		return e.Mode.Kind()
	}
	return driver.Mutex
}

// checkKind refuses a name that somebody has as a lock of another kind. Who only waits for such a one is forgotten.
func (s *State) checkKind(wanted driver.Kind) error {
	if found := s.Kind(); found != wanted && (s.Count > 0 || s.firstOf(Holder) != nil) {
		return &driver.KindError{Found: found, Wanted: wanted}
	}
	s.remove(func(e *Entry) bool {
		return (e.Role == Writer || e.Role == Reader || e.Role == InTurn) && e.Mode.Kind() != wanted
	})
	return nil
}

// IdleTime is for how long nobody has used a name that is forgotten.
const IdleTime = time.Hour

// Sweep drops what is over, and forgets the name if nobody has used it for long.
func (s *State) Sweep(c *Clock) {
	s.prune(c)
	s.Forgotten = len(s.Entries) == 0 && s.Count == 0 && c.Wall-s.Touched >= inMicros(IdleTime)
}
