package subject

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// longestAnswer is how long a combination waits for one server. A busy machine is slower than a network, and a server
// that is put away would make the others' figures look better.
const longestAnswer = time.Second

// bedrockQuorum is Bedrock with the votes of so many servers, which are new: there is nothing they can have forgotten.
func bedrockQuorum(name string, servers int) Subject {
	combine := func(nodes []driver.Backend, o lock.Options) (*lock.Client, error) {
		return quorum.New(nodes, &quorum.Options{Lock: o, Quarantine: -1})
	}
	return bedrockSeveral(name, Quorum, servers, combine)
}

// bedrockCombination is Bedrock at so many servers, one after the other.
func bedrockCombination(name string, servers int) Subject {
	combine := func(nodes []driver.Backend, o lock.Options) (*lock.Client, error) {
		return combination.New(nodes, &combination.Options{Lock: o, NodeTimeout: longestAnswer})
	}
	return bedrockSeveral(name, Combination, servers, combine)
}

// bedrockSeveral is Bedrock over go-redis on so many servers.
func bedrockSeveral(
	name string, role Role, servers int, combine func([]driver.Backend, lock.Options) (*lock.Client, error),
) Subject {
	return Subject{
		Name: name, Role: role, Client: goredisClient, Servers: servers,
		Open: func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
			clients, err := dialSeveral(ctx, at, servers)
			if err != nil {
				return nil, err
			}
			nodes, err := clients.backends()
			if err != nil {
				return nil, fmt.Errorf("open bedrock: %w", err)
			}
			client, err := combine(nodes, lock.Options{TTL: lease})
			if err != nil {
				return nil, fmt.Errorf("open bedrock: %w", err)
			}
			return &bedrockLocker{client: client, disconnect: clients.closeAll}, nil
		},
	}
}

// severalClients are go-redis clients of servers that know nothing of each other.
type severalClients []*redis.Client

// dialSeveral connects a client to each of the first servers of a site.
func dialSeveral(ctx context.Context, at Site, servers int) (clients severalClients, err error) {
	addrs := append([]string{at.Addr}, at.More...)
	if len(addrs) < servers {
		return nil, fmt.Errorf("there are %d servers, %d are needed", len(addrs), servers)
	}
	for _, addr := range addrs[:servers] {
		rdb, err := dialGoredis(ctx, addr, at.Delay)
		if err != nil {
			return nil, errors.Join(err, clients.closeAll())
		}
		clients = append(clients, rdb)
	}
	return clients, nil
}

// backends returns a store of Bedrock's for each.
func (c severalClients) backends() ([]driver.Backend, error) {
	var nodes []driver.Backend
	for _, rdb := range c {
		node, err := redislock.NewBackend(goredis.Wrap(rdb), nil)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// closeAll disconnects all of them.
func (c severalClients) closeAll() error {
	var errs []error
	for _, rdb := range c {
		errs = append(errs, rdb.Close())
	}
	return errors.Join(errs...)
}
