package several

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// CheckRequest refuses what nodes that know nothing of each other cannot promise, and nodes that are one store.
func (s *Stores) CheckRequest(ctx context.Context, req *driver.Request) error {
	if err := req.CheckExclusive(); err != nil {
		return err
	}
	if err := driver.Refused(driver.CheckOwner(req.Owner)); err != nil {
		return err
	}
	return s.Distinct(ctx)
}

// AsVote returns what a node is asked for a request, and whether that has been granted already: then its answer was
// lost.
func (b *Ballot) AsVote(req *driver.Request) (vote driver.Request, again bool) {
	vote = *req
	vote.Linger = 0 // nobody would be told that somebody else wants it
	vote.Waits = false
	vote.Above = b.stores.Propose(req.Tokens)
	token, won := b.Won()
	if won {
		vote.Above = token - 1
	}
	return vote, won
}
