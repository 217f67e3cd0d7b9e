package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxOwner is the longest an owner may be, in bytes.
const MaxOwner = 128

// OwnerProblem says why a text cannot be an owner, or nothing. Stores may keep
// owners beside fields of their own, as Redisson does: whoever came under the
// name of such a field would have the lock of anybody.
func OwnerProblem(owner string) string {
	switch {
	case owner == "":
		return "is empty"
	case len(owner) > MaxOwner:
		return fmt.Sprintf("is %d bytes long, the limit is %d", len(owner), MaxOwner)
	case ReservedOwner(owner):
		return "is reserved: it must not be mode, nor begin with bedrock:"
	case !utf8.ValidString(owner):
		return fmt.Sprintf("%q is not valid UTF-8", owner)
	case strings.ContainsFunc(owner, unicode.IsControl):
		return fmt.Sprintf("%q has a control character", owner)
	}
	return ""
}

// ReservedOwner tells whether a text is what a field beside the owner is called.
func ReservedOwner(owner string) bool {
	return owner == "mode" || strings.HasPrefix(owner, "bedrock:")
}

// CheckOwner refuses a text that cannot be an owner.
func CheckOwner(owner string) error {
	if problem := OwnerProblem(owner); problem != "" {
		return fmt.Errorf("%w: owner %s", ErrRefused, problem)
	}
	return nil
}

// PublicOwner is what others may be told of an owner: equal for equal owners, and no
// use for a release or a renewal, for which the owner itself is the key.
func PublicOwner(owner string) string {
	if owner == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(owner))
	return "#" + hex.EncodeToString(sum[:8])
}
