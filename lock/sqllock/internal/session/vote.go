package session

import "github.com/bedrock-go/bedrock/lock/driver"

var _ driver.NonVoter = (*Backend)(nil)

// WhyNoVote implements [driver.NonVoter].
func (*Backend) WhyNoVote() string {
	return "its profile is for locks that others have, too, who keep to no vote"
}
