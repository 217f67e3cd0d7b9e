package redisbarrier_test

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/barrier/redisbarrier"
)

// add changes a balance and returns what it is told to.
var add = redisbarrier.NewScript(`redis.call('INCRBY', KEYS[1], ARGV[1])
return ARGV[2]`)

// refuse says no, if it is not paid.
var refuse = redisbarrier.NewScript(`return redis.error_reply('REFUSED not enough: ' .. ARGV[1])`)

// half fails after its first write.
var half = redisbarrier.NewScript(`redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('LPUSH', KEYS[1], 'of another type')`)

type setup struct {
	s    *testenv.RedisServer
	rdb  redis.UniversalClient // beside the barrier, to look with
	conn redisconn.Conn
	b    *redisbarrier.Barrier
}

func start(t *testing.T, opts *testenv.RedisOptions) *setup {
	t.Helper()
	s := testenv.Redis(t, opts)
	rdb := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { rdb.Close() })
	conn := goredis.Wrap(rdb)
	return &setup{s, rdb, conn, over(t, conn, nil)}
}

// startRueidis does the same over the other library.
func startRueidis(t *testing.T, opts *testenv.RedisOptions) *setup {
	t.Helper()
	s := start(t, opts)
	s.conn = overRueidis(t, rueidisclient.ClientOption{InitAddress: []string{s.s.Addr()}, ForceSingleClient: true})
	s.b = over(t, s.conn, nil)
	return s
}

func overRueidis(t *testing.T, opts rueidisclient.ClientOption) redisconn.Conn {
	t.Helper()
	client, err := rueidisclient.NewClient(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return rueidis.Wrap(client)
}

// withEach runs a test over both libraries.
func withEach(t *testing.T, opts *testenv.RedisOptions, test func(t *testing.T, s *setup)) {
	t.Helper()
	for name, start := range map[string]func(*testing.T, *testenv.RedisOptions) *setup{
		"goredis": start, "rueidis": startRueidis,
	} {
		t.Run(name, func(t *testing.T) { test(t, start(t, opts)) })
	}
}

func over(t *testing.T, conn redisconn.Conn, opts *redisbarrier.Options) *redisbarrier.Barrier {
	t.Helper()
	b, err := redisbarrier.New(conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func call(transaction, op string) txn.Call {
	return txn.Call{Transaction: transaction, Branch: "pay", Op: op, Mode: "saga", Attempt: 1, Epoch: 1}
}

// do runs a call on the key and checks what comes out.
func (s *setup) do(
	t *testing.T, c txn.Call, script *redisbarrier.Script, key string, want barrier.Verdict, result string,
	args ...any,
) {
	t.Helper()
	got, v, err := s.b.Do(t.Context(), c, script, []string{key}, args...)
	refused := want == barrier.Refused || want == barrier.Hanging
	if v != want || txn.Aborted(err) != refused || (err != nil) != refused {
		t.Fatalf("%s %s: %v, %v; want %v", c.Transaction, c.Op, v, err, want)
	}
	if string(got) != result {
		t.Errorf("%s %s: result %.40q, want %.40q", c.Transaction, c.Op, got, result)
	}
}

func (s *setup) want(t *testing.T, key, balance string) {
	t.Helper()
	got, err := s.rdb.Get(t.Context(), key).Result()
	if none := errors.Is(err, redis.Nil) && balance == ""; got != balance && !none {
		t.Errorf("%s = %q, %v; want %q", key, got, err, balance)
	}
}
