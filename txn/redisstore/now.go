package redisstore

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Now implements [driver.Store]: it looks for nothing that could be claimed. In a cluster
// the latest of the servers that answer counts, as for a claim.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var looked driver.Claimed
	_, err := s.peek(ctx, driver.Claim{To: driver.Shards}, &looked)
	if looked.Now.IsZero() {
		return time.Time{}, describe("read", "the clock", err)
	}
	return looked.Now, nil
}
