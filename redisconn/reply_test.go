package redisconn_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// TestLibrariesReadTheSameAnswerDifferently: whoever runs a script need not know over
// which library.
func TestLibrariesReadTheSameAnswerDifferently(t *testing.T) {
	server := testenv.Redis(t, nil)
	conns := bothConns(t, server)
	for script, want := range map[string]string{
		`return 7`:   "7",
		`return nil`: "nil",
		`return {7, 'text', false, {1, {'deep'}, {}},
			redis.error_reply('OUT of order')}`: "[7 text nil [1 [deep] []] OUT of order]",
		`redis.call('HSET', KEYS[1], 'field', 'value')
		redis.setresp(3)
		return redis.call('HGETALL', KEYS[1])`: "[field value]",
	} {
		for name, conn := range conns {
			got, err := conn.Eval(t.Context(), redisconn.NewScript(script), []string{"k"}, nil)
			if err != nil || inWords(got) != want {
				t.Errorf("%s, %s: %s, %v; want %s", script, name, inWords(got), err, want)
			}
		}
	}
}

func bothConns(t *testing.T, server *testenv.RedisServer) map[string]redisconn.Conn {
	t.Helper()
	one := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = one.Close() })
	other, err := rueidisclient.NewClient(rueidisclient.ClientOption{
		InitAddress: []string{server.Addr()}, ForceSingleClient: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	return map[string]redisconn.Conn{"goredis": goredis.Wrap(one), "rueidis": rueidis.Wrap(other)}
}

func inWords(r redisconn.Reply) string {
	switch {
	case r.Nil:
		return "nil"
	case r.Str != "":
		return r.Str
	case r.List == nil && r.Len() == 0:
		return fmt.Sprint(r.Int)
	}
	words := make([]string, r.Len())
	for i := range words {
		words[i] = inWords(r.At(i))
	}
	return "[" + strings.Join(words, " ") + "]"
}

// TestNoClientIsTakenForOne: it would be missed by the first call, in a goroutine of ours.
func TestNoClientIsTakenForOne(t *testing.T) {
	var none *redis.Client
	for name, conn := range map[string]redisconn.Conn{
		"goredis": goredis.Wrap(nil), "a pointer to none": goredis.Wrap(none), "rueidis": rueidis.Wrap(nil),
	} {
		if err := redisconn.CheckKeeps(conn); !errors.Is(err, input.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
