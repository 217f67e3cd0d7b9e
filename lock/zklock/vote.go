package zklock

import "github.com/bedrock-go/bedrock/lock/driver"

var _ driver.NonVoter = (*backend)(nil)

// WhyNoVote implements [driver.NonVoter].
func (*backend) WhyNoVote() string { return "the servers of ZooKeeper agree by themselves" }
