package memlock

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// attendants are those who are told of the grants of a client besides the backend that has asked for them.
type attendants map[string]map[*func(driver.Message)]struct{}

// Attend implements [driver.Attender].
func (b *backend) Attend(ctx context.Context, client string, tell func(driver.Message)) (stop func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, unavailable(err)
	}
	s := b.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attendants[client] == nil {
		s.attendants[client] = make(map[*func(driver.Message)]struct{}, 1)
	}
	s.attendants[client][&tell] = struct{}{}
	b.many = true
	return func() { s.stopAttending(client, &tell) }, nil
}

// stopAttending ends what Attend began.
func (s *Store) stopAttending(client string, tell *func(driver.Message)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.attendants[client], tell)
	if len(s.attendants[client]) == 0 {
		delete(s.attendants, client)
	}
}

// attending returns the client of an owner if what happens to its grants is told to it besides; else it is empty. s.mu
// is held.
func (s *Store) attending(owner string) string {
	if client := driver.ClientOf(owner); len(s.attendants[client]) > 0 {
		return client
	}
	return ""
}

// sendMessage tells who has the grant, and reports whether anybody can be told. s.mu is held.
func (s *Store) sendMessage(g *grant, m driver.Message) (told bool) {
	if g.backend.note != nil {
		g.backend.note(m)
		told = true
	}
	for tell := range s.attendants[driver.ClientOf(g.owner)] {
		(*tell)(m)
		told = true
	}
	return told
}
