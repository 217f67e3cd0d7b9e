package redislock_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// TestScriptRefusedHalfWayLeavesALock: a script is refused half-way, and told as if nothing had
// happened.
func TestScriptRefusedHalfWayLeavesALock(t *testing.T) {
	server := testenv.Redis(t, nil)
	conn := connectGoredis(t, single(server))
	for profile, commands := range map[redislock.Profile][]string{
		redislock.Redisson: {"exists", "time", "set", "hset", "pexpire"},
		redislock.Redlock:  {"get", "set", "time"},
	} {
		b := open(t, conn, &redislock.Options{Profile: profile})
		for _, command := range commands {
			name := fmt.Sprint(profile, "/", command)
			server.Do("ACL", "SETUSER", "default", "-"+command)
			_, err := b.Acquire(ctxFor(t), request(name, uuidA+":1"))
			server.Do("ACL", "SETUSER", "default", "+@all")
			if !errors.Is(err, driver.ErrRefused) {
				t.Errorf("%s: want a refusal, got %v", name, err)
			}
			if server.Do("EXISTS", name) != int64(0) {
				t.Errorf("%s: the lock is there, after %v", name, err)
			}
		}
	}
}
