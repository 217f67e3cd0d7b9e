package redislock_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// TestAFailOverIsTakenForARefusal: the client library closes its connections to a master
// that hangs once there is another. What was asked there may have been done, and asking
// again does help.
func TestAFailOverIsTakenForARefusal(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Sentinel(t, 1)
		b := open(t, connect(t, target{addrs: s.Addrs(), master: s.MasterName}),
			&redislock.Options{Profile: redislock.Redlock})
		mustRelease(t, b, acquireInTheEnd(t, b, request("a", uuidA+":1")))
		s.Master().Freeze()
		var calls sync.WaitGroup
		// Many, for rueidis answers those that share a connection in another way.
		for name := range strings.SplitSeq("bcdefghijklmnopq", "") {
			calls.Go(func() {
				_, err := b.Acquire(ctxFor(t), request(name, uuidA+":2"))
				if errors.Is(err, driver.ErrRefused) {
					t.Errorf("what was asked of a master that hangs: %v", err)
				}
			})
		}
		calls.Wait()
		acquireInTheEnd(t, b, request("a", uuidA+":3"))
	})
}

// TestAClosedClientIsAskedAgain: after the end of the client asking again is no use.
func TestAClosedClientIsAskedAgain(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T, s *testenv.RedisServer) (redisconn.Conn, func()){
		"goredis": func(_ *testing.T, s *testenv.RedisServer) (redisconn.Conn, func()) {
			client := goredisclient.NewClient(&goredisclient.Options{Addr: s.Addr()})
			return goredis.Wrap(client), func() { _ = client.Close() }
		},
		"rueidis": func(t *testing.T, s *testenv.RedisServer) (redisconn.Conn, func()) {
			client, err := rueidisclient.NewClient(rueidisclient.ClientOption{
				InitAddress: []string{s.Addr()}, ForceSingleClient: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			return rueidis.Wrap(client), client.Close
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn, end := connect(t, testenv.Redis(t, nil))
			b := open(t, conn, nil)
			g := mustAcquire(t, b, request("a", uuidA+":1"))
			end()
			if _, err := b.Acquire(ctxFor(t), request("b", uuidA+":2")); !errors.Is(err, driver.ErrRefused) {
				t.Errorf("acquire: %v", err)
			}
			for _, err := range b.Renew(ctxFor(t), []driver.Grant{g, g}) {
				if !errors.Is(err, driver.ErrRefused) {
					t.Errorf("renew: %v", err)
				}
			}
		})
	}
}
