package redislock_test

import (
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestWhatIsThereIsToldInTheWordsOfRedis: every call says which key it is, and what, however it was made.
func TestWhatIsThereIsToldInTheWordsOfRedis(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), nil)
		s.Do("SET", "string", "text")
		s.Do("RPUSH", "list", "text")
		for _, name := range []string{"string", "list"} {
			fair := request(name, uuidA+":1")
			fair.Fair = true
			waiting := request(name, uuidA+":1")
			waiting.Waits = true
			voting := vote(uuidA+":1", 9, 0)
			voting.Name = name
			errs := map[string]error{
				"acquire": second(b.Acquire(ctxFor(t), request(name, uuidA+":1"))),
				"wait":    second(b.Acquire(ctxFor(t), waiting)),
				"fair":    second(b.Acquire(ctxFor(t), fair)),
				"vote":    second(b.Acquire(ctxFor(t), voting)),
				"all": second(b.(driver.Bundler).AcquireAll(ctxFor(t),
					[]driver.Request{request("{"+name+"}:b", uuidA+":1"), request(name, uuidA+":1")})),
				"inspect": second(b.(driver.Inspector).Inspect(ctxFor(t), name)),
			}
			for way, err := range errs {
				wantWords(t, way, err, "WRONGTYPE the key "+name+" is not a lock but a "+name)
			}
			_, err := b.(driver.Latches).LatchCount(ctxFor(t), name)
			wantWords(t, "latch", err, "WRONGTYPE the key "+name+" is not a latch but a "+name)
		}
		if s.Do("EXISTS", "{string}:b", "{list}:b") != int64(0) {
			t.Error("half of several locks was had")
		}
	})
}

// wantWords wants an error that ends so, and says nothing of scripts.
func wantWords(t *testing.T, way string, err error, words string) {
	t.Helper()
	if err == nil || !strings.HasSuffix(err.Error(), words) {
		t.Errorf("%s: %v, want … %s", way, err, words)
	}
}
