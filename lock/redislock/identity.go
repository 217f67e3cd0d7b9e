package redislock

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/internal/redisnode"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// keyOfFirstSlot lies in slot 0.
const keyOfFirstSlot = "06S"

// Identity implements [driver.Identifier]. It is the run id of the server, which has another one after each start; in
// a cluster that of the master which has the first slot.
func (b *backend) Identity(ctx context.Context) (string, error) {
	node, err := b.firstMaster(ctx)
	if err != nil {
		return "", describe("ask for", "run_id", err)
	}
	id, err := runID(ctx, node)
	if err != nil {
		return "", describe("ask for", "run_id", err)
	}
	database, err := b.databaseOf(ctx, node)
	if err != nil {
		return "", describe("ask for", "the database", err)
	}
	return driver.IdentityIn("redis "+id, database), nil
}

// databaseOf returns the one in which names are, nothing of the first: in each of them a name is another lock. A server
// before 6.2 does not tell, nor one that does not let the user ask.
func (b *backend) databaseOf(ctx context.Context, node redisconn.Node) (string, error) {
	if b.conn.Cluster() { // which has one
		return "", nil
	}
	answer, err := node.Do(ctx, "CLIENT", "INFO")
	if err != nil {
		if redisnode.Refuses(err) {
			err = nil
		}
		return "", err
	}
	for field := range strings.FieldsSeq(answer.Str) {
		if number, ok := strings.CutPrefix(field, "db="); ok && number != "0" {
			return "database " + number, nil
		}
	}
	return "", nil
}

func runID(ctx context.Context, node redisconn.Node) (string, error) {
	s, err := redisnode.ReadSettings(ctx, node, []string{"server"}, nil)
	if err != nil {
		return "", err
	}
	id := s.Info["run_id"]
	if id == "" {
		return "", fmt.Errorf("%w: INFO has no run_id", driver.ErrUnsupported)
	}
	return id, nil
}

// firstMaster returns the only master, or the one that has the first slot.
func (b *backend) firstMaster(ctx context.Context) (redisconn.Node, error) {
	masters, err := b.conn.Masters(ctx)
	if err != nil {
		return nil, err
	}
	if !b.conn.Cluster() && len(masters) == 1 {
		return masters[0], nil
	}
	owner, err := b.conn.Owner(ctx, keyOfFirstSlot, false)
	if err != nil {
		return nil, err
	}
	for _, master := range masters {
		if master.Addr() == owner {
			return master, nil
		}
	}
	return nil, redisconn.Mark(redisconn.Unavailable, errors.New("no master is known to have slot 0"))
}
