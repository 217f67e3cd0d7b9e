package coord

import "github.com/bedrock-go/bedrock/txn"

// NewID makes an ID like [txn.NewID].
func NewID() string { return txn.NewID() }
