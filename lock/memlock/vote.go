package memlock

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// prepareVote sees to what is asked of one of several stores, before it grants a lock or refuses it. s.mu is held.
func (s *Store) prepareVote(req *driver.Request) error {
	g, held := s.live(req.Name)
	switch {
	case held && g.owner != req.Owner: // it will be refused
	case held && g.first <= req.Above:
		s.token = max(s.token, req.Above)
		g.first, g.tokens = s.reserve(req.Tokens)
		g.heirs = nil // who stands in line has lower tokens, and asks anew
		s.grants[req.Name] = g
		s.wakeListeners(req.Name)
	case held:
	case s.since(s.started) < req.Age:
		return driver.ErrYoung
	default:
		s.token = max(s.token, req.Above)
	}
	return nil
}

// Identity implements [driver.Identifier].
func (b *backend) Identity(context.Context) (string, error) {
	return "memory " + b.store.id, nil
}
