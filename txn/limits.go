package txn

import (
	"time"

	"github.com/bedrock-go/bedrock/input"
)

// Limits that several packages keep to.
const (
	// MaxBranchID is the longest ID of a branch, in bytes.
	MaxBranchID = 64
	// MaxSubscribers is how many receivers a topic has at most.
	MaxSubscribers = 1000
	// MaxPending is how long a participant may put a coordinator off.
	MaxPending = 24 * time.Hour
	// MaxReason is the longest reason of an intervention, in bytes, and how much is kept of one
	// for a roll back.
	MaxReason = 1000
	// DefaultPage is how much a list shows at once that is not told.
	DefaultPage = 100
	// MaxPage is how much a list shows at once at most.
	MaxPage = 1000
)

// PageSize is how much a list shows that is asked for so much; 0 means [DefaultPage].
func PageSize(asked int) (int, error) {
	switch {
	case asked == 0:
		return DefaultPage, nil
	case asked < 0 || asked > MaxPage:
		return 0, input.Errorf("limit", "%d: want 0 (%d) to %d", asked, DefaultPage, MaxPage)
	default:
		return asked, nil
	}
}
