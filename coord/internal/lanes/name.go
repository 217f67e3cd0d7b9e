package lanes

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// NameOf names the lane and the host of a target: URLs without their query, functions by
// their names. An async target has a lane of its own: a call of it is a write to the store,
// and says nothing about the target behind it.
func NameOf(t txn.Target) (name, host string) {
	name, host = splitTarget(t)
	return storable(name), host
}

// storable is the name of a lane in a form that every store can keep with what waits for
// it: a target may be longer, and its host, decoded, may be no valid text. Names that are
// cut stay different.
func storable(name string) string {
	if len(name) <= driver.MaxWaits && utf8.ValidString(name) && strings.IndexByte(name, 0) < 0 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	const kept = driver.MaxWaits / 2
	start := strings.ReplaceAll(strings.ToValidUTF8(name[:min(len(name), kept)], ""), "\x00", "")
	return start + "#" + hex.EncodeToString(sum[:16])
}

func splitTarget(t txn.Target) (name, host string) {
	if to, async := t.Async(); async {
		name, _ = splitTarget(to)
		return string(txn.Async(txn.Target(name))), ""
	}
	u, err := url.Parse(string(t))
	if err != nil || u.Host == "" {
		return string(t), ""
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath(), u.Host
}
