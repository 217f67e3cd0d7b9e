package several

import (
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// checkVoter refuses a node that would never give a vote, where that is known before anybody asks.
func checkVoter(number int, b driver.Backend) error {
	if n, says := b.(driver.NonVoter); says && n.WhyNoVote() != "" {
		return input.Errorf("nodes", "number %d has no vote: %s", number, n.WhyNoVote())
	}
	return nil
}
