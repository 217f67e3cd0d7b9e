package redislock_test

import (
	"errors"
	"math"
	"testing"

	goredisclient "github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

func TestBadOptions(t *testing.T) {
	conn := connectGoredis(t, target{addrs: []string{"127.0.0.1:1"}})
	for field, all := range map[string][]redislock.Options{
		"profile": {{Profile: 9}}, "pubSub": {{PubSub: 9}}, "tokenTTL": {{TokenTTL: -2}},
		"semaphores": {{Semaphores: 9}, {Profile: redislock.Redlock, Semaphores: redislock.RSemaphore}},
		"acks":       {{Acks: -3}, {Acks: 1001}},
		"ackTimeout": {{AckTimeout: -1}, {AckTimeout: math.MaxInt64}},
	} {
		for _, opts := range all {
			_, err := redislock.New(conn, &opts)
			if wrong, ok := errors.AsType[*lock.InvalidError](err); !ok || wrong.Field != field {
				t.Errorf("%+v: %v", opts, err)
			}
		}
	}
	if _, err := redislock.New(nil, nil); !errors.Is(err, lock.ErrInvalid) {
		t.Errorf("a nil conn: %v", err)
	}
}

// TestWrappedClusterIsTakenForOneServer: whoever adds something to a cluster's
// client still has a cluster.
func TestWrappedClusterIsTakenForOneServer(t *testing.T) {
	cluster := goredisclient.NewClusterClient(&goredisclient.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer cluster.Close()
	if !goredis.Wrap(struct{ *goredisclient.ClusterClient }{cluster}).Cluster() {
		t.Error("names would not be told apart by their slots")
	}
}
