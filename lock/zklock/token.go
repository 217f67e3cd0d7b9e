package zklock

import (
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// A token is the number of the transaction that has made the node, which rises for the whole ensemble: 19 bits of the
// leader's epoch, 32 of its counter, and 12 for the tokens of a grant.
const (
	localBits   = 12
	counterBits = 32
	maxEpoch    = 1<<19 - 1
	maxBlock    = 1 << localBits
)

// tokenOf returns the first token of the grant whose node a transaction has made.
func tokenOf(zxid int64) (uint64, error) {
	if epoch := uint64(zxid) >> counterBits; epoch > maxEpoch {
		return 0, fmt.Errorf("%w: the ensemble has had %d leaders, tokens are for %d at most", driver.ErrRefused,
			epoch, maxEpoch)
	}
	return uint64(zxid) << localBits, nil
}

// newestToken is the highest token given out up to a transaction; 0 where no token is for it.
func newestToken(zxid int64) uint64 {
	first, err := tokenOf(zxid)
	if err != nil {
		return 0
	}
	return first | (maxBlock - 1)
}
