package etcdlock

import (
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Tokens are revisions of the store, each of which is worth a block. A grant has the revision by which it was given:
//
//   - Who finds nobody has that of its own key.
//   - Who waits has that by which the last key before its own was deleted, or, if it finds that out by asking, a later
//     one, of the answer. That stands in its key from then on.
//   - Who leads in an election of the profile Elections has that of its own key, also if it has waited: all of them do.
//
// They rise from grant to grant of a name. A grant ends by the deletion of its key, at a revision that is higher than
// its own: the key was there at that one. No two are deleted before the same key becomes the first, and the next
// grant is of that revision, or a later one. The revision at which a key was made that waits is no token: others are
// granted the lock after it, by official clients as well, which count as here.
const (
	tokenBits   = 20 // of a block: more than driver.MaxTokens
	maxRevision = driver.MaxToken >> tokenBits
)

// firstToken returns the first token of a grant.
func firstToken(revision int64) uint64 { return uint64(revision) << tokenBits }

// lastToken returns the highest token that can have been given out at a revision.
func lastToken(revision int64) uint64 { return firstToken(revision+1) - 1 }

// checkRevision refuses a store whose revisions are too high to be tokens.
func checkRevision(revision int64) error {
	if revision < 1 || revision >= maxRevision {
		return fmt.Errorf("%w: the store's revision is %d, tokens are made of 1 to %d", driver.ErrRefused, revision,
			int64(maxRevision)-1)
	}
	return nil
}
