package driver

import (
	"context"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/input"
)

// MaxReason is how long the reason of a [Plea] may be, in bytes.
const MaxReason = 256

// Plea asks the holder of a lock to give it back.
type Plea struct {
	// Reason says why, to people: one line of at most [MaxReason] bytes, or nothing.
	Reason string
	// Within is in what time, at most [MaxTTL]; 0 for as soon as it can.
	Within time.Duration
}

// Check says by an [*input.Error] what nobody may ask.
func (p *Plea) Check() error {
	switch {
	case len(p.Reason) > MaxReason:
		return tooLong("reason", p.Reason, MaxReason)
	case !utf8.ValidString(p.Reason):
		return &input.Error{Field: "reason", Problem: "is not valid UTF-8"}
	case p.Within < 0 || p.Within > MaxTTL:
		return outOfRange("within", p.Within, 0, MaxTTL)
	}
	for _, r := range p.Reason {
		if unicode.IsControl(r) {
			return &input.Error{Field: "reason", Problem: "has a control character"}
		}
	}
	return nil
}

// Pleader is implemented by backends that can ask those who have a lock to give it back: who has it is told by
// [Notifier], with the kind [Asked]. Nothing else happens.
type Pleader interface {
	// Plead tells all who have the name, and returns how many of them the store can have told: who uses another
	// library hears nothing, and who has lost its connection later, or not at all.
	Plead(ctx context.Context, name string, p Plea) (told int, err error)
}
