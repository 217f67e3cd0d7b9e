package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ReservedOwner reports whether a text is what a field beside the owner is called.
func ReservedOwner(owner string) bool {
	return owner == "mode" || strings.HasPrefix(owner, "bedrock:")
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
