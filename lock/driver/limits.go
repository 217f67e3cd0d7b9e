package driver

import (
	"errors"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/input"
)

// The limits of what may be asked for, the same everywhere.
const (
	MaxName    = 512                   // bytes of a name
	MaxOwner   = 128                   // bytes of an owner
	MaxMeta    = 4 << 10               // bytes stored beside a grant
	MaxTokens  = 1 << 16               // reserved at a time
	MaxPermits = 1 << 20               // of a name
	MaxToken   = math.MaxInt64         // as high as a column of SQL goes
	MaxAbove   = 9_000_000_000_000_000 // a token that any store can count on from
	MinTTL     = 10 * time.Millisecond // of a lease
	MinRest    = time.Millisecond      // of one renewed for the rest of its minimum hold time
	MaxTTL     = 24 * time.Hour
)

// CheckName says by an [*input.Error] why a text cannot be a name: backends keep apart any
// texts without control characters.
func CheckName(name string) error {
	return checkText("name", name, MaxName)
}

// CheckPrefix says by an [*input.Error] why no name can begin with a text. Any may begin with
// none.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return checkText("prefix", prefix, MaxName)
}

// CheckOwner says by an [*input.Error] why a text cannot be an owner. Stores may keep owners
// beside fields of their own, as Redisson does: whoever came under the name of such a
// field would have the lock of anybody.
func CheckOwner(owner string) error {
	if ReservedOwner(owner) {
		return &input.Error{Field: "owner", Problem: "is reserved: it must not be mode, nor begin with bedrock:"}
	}
	return checkText("owner", owner, MaxOwner)
}

// CheckToken says by an [*input.Error] why a number cannot be a token that was granted.
func CheckToken(token uint64) error {
	if token == 0 || token > MaxToken {
		return outOfRange("token", token, 1, uint64(MaxToken))
	}
	return nil
}

// CheckTTL says by an [*input.Error] why a lease cannot live for so long.
func CheckTTL(ttl time.Duration) error {
	if ttl < MinTTL || ttl > MaxTTL {
		return outOfRange("ttl", ttl, MinTTL, MaxTTL)
	}
	return nil
}

// CheckRest says by an [*input.Error] why a lease cannot be renewed for so long. That may be
// less than anybody can ask for, when little is left of its minimum hold time.
func CheckRest(ttl time.Duration) error {
	if ttl < MinRest || ttl > MaxTTL {
		return outOfRange("ttl", ttl, MinRest, MaxTTL)
	}
	return nil
}

func checkText(field, text string, limit int) error {
	switch {
	case text == "":
		return &input.Error{Field: field, Problem: "is empty"}
	case len(text) > limit:
		return tooLong(field, text, limit)
	case isPlain(text):
		return nil
	case !utf8.ValidString(text):
		return input.Errorf(field, "%q is not valid UTF-8", text)
	}
	if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
		return input.Errorf(field, "%q has a control character at byte %d", text, i)
	}
	return nil
}

// isPlain reports whether a text is printable ASCII, as nearly all are: that is quick to see.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// inField says of wrong input that it is that of another field.
func inField(field string, err error) error {
	if wrong, ok := errors.AsType[*input.Error](err); ok {
		return &input.Error{Field: field, Problem: wrong.Problem}
	}
	return err
}

func tooLong(field, text string, limit int) error {
	return input.Errorf(field, "is %d bytes long, the limit is %d", len(text), limit)
}

func outOfRange[T any](field string, value, least, most T) error {
	return input.Errorf(field, "is %v, allowed are %v to %v", value, least, most)
}
