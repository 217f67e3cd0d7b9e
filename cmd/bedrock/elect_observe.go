package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/election"
)

// observe prints who leads, and every change, until ctx ends: that is how it is meant to end. A backend that does not
// answer is waited for, also from the beginning: who starts with it, or before it, is to see its leaders. One that
// refuses from the beginning, as for a wrong password, will do so again.
func (s *system) observe(ctx context.Context, name string) error {
	session, err := s.open(lock.Options{})
	if err != nil {
		return err
	}
	defer closeSession(session)
	seen := false
	for leader, err := range election.New(session.Client, name, nil).Observe(ctx) {
		switch {
		case err != nil && !seen && !mayCampaignAgain(err):
			return fromBackend(err)
		case err != nil:
			fmt.Fprintln(s.stderr, "bedrock: still trying:", err)
			continue
		}
		seen = true
		if err := s.printLockChange(changeOf(&leader)); err != nil {
			return err
		}
	}
	return nil
}

// changeOf is who leads now as a line of lock watch has who holds a lock.
func changeOf(l *election.Leader) *change {
	c := &change{Time: time.Now().UTC(), Event: "nobody leads", Lock: lockView{lock.Info{Name: l.Name, Token: l.Token}}}
	if l.Owner != "" {
		c.Event = "leads"
		c.Lock.Holders = []lock.Holder{{Owner: l.Owner, Since: l.Since, TTL: l.TTL, Meta: l.Meta}}
	}
	return c
}
