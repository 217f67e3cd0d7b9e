package driver

import (
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/input"
)

// Mode says how a grant shares its name with others.
type Mode uint8

// The modes. Those of different kinds never share a name.
const (
	// Exclusive is the mode of a mutex: one grant at a time.
	Exclusive Mode = iota
	// Shared is the mode of readers: any number of grants at a time.
	Shared
	// Write is the mode of writers: one grant at a time, and none in mode Shared beside
	// it, but what [Request.Over] names.
	Write
	// Permit is the mode of a semaphore: grants have Permits, and all of a name
	// together have Limit at most.
	Permit
)

// String returns the mode's name.
func (m Mode) String() string {
	if m > Permit {
		return "mode " + strconv.Itoa(int(m))
	}
	return [...]string{"exclusive", "shared", "write", "permit"}[m]
}

// Kind returns the kind of locks that have the mode.
func (m Mode) Kind() Kind {
	switch m {
	case Shared, Write:
		return ReadWrite
	case Permit:
		return Semaphore
	default:
		return Mutex
	}
}

// ParseMode reads what [Mode.String] returns; nothing at all is Exclusive.
func ParseMode(text string) (Mode, error) {
	if text == "" {
		return Exclusive, nil
	}
	for m := range Permit + 1 {
		if m.String() == text {
			return m, nil
		}
	}
	return 0, input.Errorf("mode", "is %q, there are exclusive, shared, write and permit", text)
}

// Request asks for a grant.
type Request struct {
	// Name is the lock's name, valid UTF-8 of 1 to [MaxName] bytes without control
	// characters. Backends never let two different names meet.
	Name string
	// Owner is unique for this acquisition, so that a repeated request can be
	// recognised. Acquire refuses whoever comes as somebody [CheckOwner] does not take
	// with [ErrRefused]; so do Renew and Release with such a grant.
	Owner string
	// Mode is how the grant shares the name. A backend refuses a mode it lacks
	// with [ErrUnsupported].
	Mode Mode
	// Permits is how many of the name's Limit are wanted, at most [MaxPermits]. Both
	// are for the mode Permit only.
	Permits int
	Limit   int
	// Upgradeable is for readers, mode Shared: of those who have asked for it one at a time has
	// the name, and that one may ask for it in mode Write over what it has.
	Upgradeable bool
	// Over is the owner of another grant, which then does not stand in the way of this one: of
	// one in mode Shared that is Upgradeable for one in mode Write, and the reverse of one in
	// mode Write. Each has its own life; if what is named is not there, that is [ErrBelow].
	Over string
	// Waits says that the caller goes on asking if it is refused. A writer who waits keeps
	// readers off who come later, for as long as the refusal's [HeldError.Again].
	Waits bool
	// Fair asks for first come, first served, across processes, in mode Exclusive. Who is refused and Waits has a
	// place in the store's line from then on, for as long as the refusal's [HeldError.Again], and keeps it by asking
	// again; one that is not kept is another's within seconds. Who does not wait is refused, too, while somebody
	// stands in line. A backend that has no such line refuses it with [ErrUnsupported]. See [TurnWaiter].
	Fair bool
	// TTL is how long the grant lives without renewal, [MinTTL] to [MaxTTL].
	TTL time.Duration
	// Tokens is how many consecutive fencing tokens to reserve, 1 to [MaxTokens]. The
	// grant has fewer where more would run ahead of the store's clock.
	Tokens int
	// Meta is stored beside the grant for people to read, valid UTF-8 of at most
	// [MaxMeta] bytes; empty for none.
	Meta string
	// Linger is for how long the client may keep the grant when nobody there has it any more, 0 if not at
	// all. It asks to be told when somebody else wants it then: see [Grant.Recalled].
	Linger time.Duration
	// Above and Age are for stores of which several make up one lock, in mode Exclusive. A backend that does not
	// keep them refuses them with [ErrUnsupported].
	//
	// Above is a token that those of the grant are above, 0 for none: the first is the next one after it, or after the
	// newest given out for the name if that is higher. Only where the store knows of none may it be higher still. Of
	// a grant that the owner has already the tokens are new, unless they are above.
	Above uint64
	// Age is for how long the store must have kept all that it was told before it may grant anything, 0 for any time.
	// One that was started later, and may have forgotten what it had granted, says [ErrYoung].
	Age time.Duration
}

// Check says by an [*input.Error] what nobody may ask for. Whoever takes requests from
// others checks them, once, before anything happens: package lock its users', a server
// those from the network, and a backend on the far side of a network what it is about to
// send. A store relies on that, but for owners.
func (r *Request) Check() error {
	if err := CheckName(r.Name); err != nil {
		return err
	}
	if err := CheckOwner(r.Owner); err != nil {
		return err
	}
	if err := r.checkMode(); err != nil {
		return err
	}
	if err := r.checkReadWrite(); err != nil {
		return err
	}
	if err := r.checkVote(); err != nil {
		return err
	}
	if err := CheckTTL(r.TTL); err != nil {
		return err
	}
	if r.Tokens < 1 || r.Tokens > MaxTokens {
		return outOfRange("tokens", r.Tokens, 1, MaxTokens)
	}
	return CheckMeta(r.Meta)
}

func (r *Request) checkMode() error {
	switch {
	case r.Mode > Permit:
		return &input.Error{
			Field: "mode", Problem: "is " + r.Mode.String() + ", there are exclusive, shared, write and permit",
		}
	case r.Mode != Permit && r.Permits != 0:
		return &input.Error{Field: "permits", Problem: "are for mode permit, not " + r.Mode.String()}
	case r.Mode != Permit && r.Limit != 0:
		return &input.Error{Field: "limit", Problem: "is for mode permit, not " + r.Mode.String()}
	case r.Mode != Exclusive && r.Fair:
		return &input.Error{Field: "fair", Problem: "is for mode exclusive, not " + r.Mode.String()}
	case r.Mode == Permit && (r.Limit < 1 || r.Limit > MaxPermits):
		return outOfRange("limit", r.Limit, 1, MaxPermits)
	case r.Mode == Permit && (r.Permits < 1 || r.Permits > r.Limit):
		return outOfRange("permits", r.Permits, 1, r.Limit)
	}
	return nil
}

// checkReadWrite refuses what only readers and writers may ask for.
func (r *Request) checkReadWrite() error {
	switch {
	case r.Upgradeable && r.Mode != Shared:
		return &input.Error{Field: "upgradeable", Problem: "is for mode shared, not " + r.Mode.String()}
	case r.Over == "":
		return nil
	case r.Mode.Kind() != ReadWrite:
		return &input.Error{Field: "over", Problem: "is for modes shared and write, not " + r.Mode.String()}
	case r.Upgradeable:
		return &input.Error{Field: "over", Problem: "is not for upgradeable readers"}
	case r.Over == r.Owner:
		return &input.Error{Field: "over", Problem: "is the owner itself"}
	}
	return inField("over", CheckOwner(r.Over))
}

// checkVote refuses what cannot be asked of one of several stores.
func (r *Request) checkVote() error {
	switch {
	case r.Above > MaxAbove:
		return outOfRange("above", r.Above, 0, uint64(MaxAbove))
	case r.Age < 0 || r.Age > MaxTTL:
		return outOfRange("age", r.Age, 0, MaxTTL)
	case r.IsVote() && (r.Mode != Exclusive || r.Fair):
		return &input.Error{Field: "above and age", Problem: "are for mode exclusive, and not for fair locks"}
	}
	return nil
}

// IsVote reports whether one of several stores is asked, which has to keep Above or Age.
func (r *Request) IsVote() bool { return r.Above > 0 || r.Age > 0 }

// CheckMeta says by an [*input.Error] why a text cannot be stored beside a grant.
func CheckMeta(meta string) error {
	switch {
	case len(meta) > MaxMeta:
		return tooLong("meta", meta, MaxMeta)
	case !utf8.ValidString(meta):
		return &input.Error{Field: "meta", Problem: "is not valid UTF-8"}
	}
	return nil
}

// CheckExclusive refuses with [ErrUnsupported] whatever is not a request for a plain
// exclusive grant. It is for backends that have nothing else: who ignores what it lacks
// promises what it does not keep.
func (r *Request) CheckExclusive() error {
	switch {
	case r.Mode != Exclusive:
		return fmt.Errorf("%w: mode %s", ErrUnsupported, r.Mode)
	case r.Fair:
		return fmt.Errorf("%w: first come, first served across processes", ErrUnsupported)
	case r.IsVote():
		return fmt.Errorf("%w: to be one of several stores, above and age", ErrUnsupported)
	}
	return nil
}

// Ungranted returns the grant that the request may have been given, for who releases it.
func (r *Request) Ungranted() Grant {
	return Grant{
		Name: r.Name, Owner: r.Owner, Mode: r.Mode, Permits: r.Permits, Upgradeable: r.Upgradeable, TTL: r.TTL,
	}
}

// Refused puts what a check found into the class [ErrRefused]; nil stays nil.
func Refused(err error) error {
	if err == nil || errors.Is(err, ErrRefused) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrRefused, err)
}
