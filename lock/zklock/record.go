package zklock

import (
	"encoding/json"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// revoke is what Curator writes into the node of a holder that is asked to give the lock back. It does that to nodes
// whose data is empty, as its own holders who heed it have it.
const revoke = "__REVOKE__"

// record is what a client of this package writes into its node. To Curator it is bytes of somebody else.
type record struct {
	Owner string `json:"owner"`
	TTL   int64  `json:"ttl"` // in milliseconds
	Meta  string `json:"meta,omitempty"`
	Hears bool   `json:"hears,omitempty"` // what others write here
	Limit int    `json:"limit,omitempty"` // of a semaphore
	Line  bool   `json:"line,omitempty"`  // it stands in line until it has the lock: its token may be a later one
	Plea  *plea  `json:"plea,omitempty"`
}

// plea asks the holder to give the lock back.
type plea struct {
	Reason string `json:"reason,omitempty"`
	Within int64  `json:"within,omitempty"` // in milliseconds
	Number int32  `json:"number"`           // the version that it has replaced: no two are the same
}

func (r *record) bytes() []byte {
	data, err := json.Marshal(r)
	if err != nil {
		return nil // texts and numbers always marshal
	}
	return data
}

// parseRecord reads what a client of this package has written, and reports whether one has.
func parseRecord(data []byte) (r record, ok bool) {
	if json.Unmarshal(data, &r) != nil || driver.CheckOwner(r.Owner) != nil {
		return record{}, false
	}
	return r, true
}

// ownerOf says who has a node: the owner, or for those of other libraries what they have written into it, which is
// the address of their host, or the name of the node.
func ownerOf(node string, data []byte) string {
	if r, ours := parseRecord(data); ours {
		return r.Owner
	}
	text := string(data)
	if text == "" || text == revoke || len(text) > driver.MaxOwner || !utf8.ValidString(text) {
		return node
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return node
		}
	}
	return text
}

// milliseconds are those of a time, one at least.
func milliseconds(d time.Duration) int64 {
	return max(1, int64((d+time.Millisecond-1)/time.Millisecond))
}
