package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// ReservedOwner reports whether a text is what a field beside the owner is called, or an owner who writes.
func ReservedOwner(owner string) bool {
	return owner == "mode" || strings.HasPrefix(owner, "bedrock:") || strings.HasSuffix(owner, ":write")
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

// AsPublicOwner returns an owner as everybody may tell it, whether it is told so already or not.
func AsPublicOwner(owner string) string {
	if strings.HasPrefix(owner, "#") {
		return owner
	}
	return PublicOwner(owner)
}

// ClientOf returns the part of an owner that all of its client have, as package lock makes them; all of another one.
func ClientOf(owner string) string {
	client, _, _ := strings.Cut(owner, ":")
	return client
}

// ownerWord is how an error names an owner. Whoever can write to the store has written it: what
// is not one printable word is quoted, and it is cut off where no owner goes on.
func ownerWord(owner string) string {
	text := owner
	if len(text) > MaxOwner {
		text = text[:MaxOwner] + "…"
	}
	quoted := strconv.Quote(text)
	if text == owner && len(quoted) == len(`""`)+len(owner) && !strings.Contains(owner, " ") {
		return owner
	}
	return quoted
}
