package lockurl

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bedrock-go/bedrock/internal/serverurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

func TestParse(t *testing.T) {
	one := serverurl.Location{Kind: serverurl.Redis, Addrs: []string{"h:6379"}}
	for url, want := range map[string]*Redis{
		"mem:":      nil,
		"mem://":    nil,
		"redis://h": {Location: one},
		"redis://h?ttl=5s&acks=majority&ack-timeout=2s&token-ttl=-1&profile=redlock&pubsub=classic": {
			Location: one, Options: redislock.Options{
				Lock: lock.Options{TTL: 5 * time.Second}, TokenTTL: -1,
				Acks: redislock.AckMajority, AckTimeout: 2 * time.Second,
				Profile: redislock.Redlock, PubSub: redislock.PubSubClassic,
			},
		},
		"redis://h?acks=2": {Location: one, Options: redislock.Options{Acks: 2}},
	} {
		got, err := Parse(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got.Memory() != (want == nil) || want != nil && got.TTL != want.Options.Lock.TTL {
			t.Errorf("%s: in memory %t, with TTL %s", url, got.Memory(), got.TTL)
		}
		if diff := cmp.Diff(want, got.Redis(), cmpopts.IgnoreUnexported(Redis{})); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", url, diff)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for url, want := range map[string]string{
		"":                             "backend URL: scheme is missing; write one of mem:, sqlite:FILE, mysql://",
		"localhost:6379":               "scheme is missing",
		"redis:localhost":              "scheme is missing",
		"redis1:6379":                  "scheme is missing",
		"mem":                          "scheme is missing",
		"consul://h":                   "scheme is not known; there are mem:, sqlite:FILE",
		"memm:":                        "scheme is not known (did you mean mem?); there are mem:, sqlite:FILE",
		"redsi://h":                    "scheme is not known (did you mean redis?); there are mem:, sqlite:FILE",
		"mysql://h":                    "database is missing, or not a single name: mysql://host/database",
		"mysql:x":                      "scheme must be followed by //: mysql://host/database",
		"postgres:///x":                "host is missing: postgres://host/database",
		"postgres://h/x?ttl=1":         "option ttl is not a duration from 10ms to 24h0m0s",
		"postgres://h/x?table=%zz":     "option table is not percent-encoded correctly",
		"mysql://u:%zz@h/x":            "user name, password, host or port is not written correctly",
		"sqlite:":                      "path is missing: sqlite:PATH",
		"sqlite:a?ttl=5s":              "path has a ? or #; there are no options",
		"etcd://":                      "host is missing",
		"etcd://h?profile=redisson":    "option profile is none of own, compatible, elections",
		"etcd://h?acks=1":              "option acks is not known; etcd:// takes ca, cert",
		"zk://h?profile=own":           "option profile is none of escaped, curator, curator-latch",
		"postgres://h/x?profile=named": "option profile is none of rows, shedlock, advisory",
		"mysql://h/x?profile=advisory": "option profile is none of rows, shedlock, named",
		"zk://h?session=1":             "option session is not a duration from 100ms to 48h0m0s",
		"mem:x":                        "scheme mem takes nothing after it",
		"redis://":                     "host is missing",
		"redis://h:x":                  "backend URL: port is not a number",
		"redis://h?ttl=1ms":            "option ttl is not a duration from 10ms to 24h0m0s",
		"redis://h?ttl=30":             "option ttl is not a duration",
		"redis://h?acks=some":          "option acks is none of majority, all, 0 to 1000",
		"redis://h?acks=-1":            "option acks",
		"redis://h?acks=1001":          "option acks is none of majority, all, 0 to 1000",
		"redis://h?ack-timeout=0s":     "option ack-timeout",
		"redis://h?ack-timeout=25h":    "option ack-timeout is not a duration from 1ms to 24h0m0s",
		"redis://h?token-ttl=0":        "option token-ttl is neither -1 (for ever) nor a duration of 1ms or more",
		"redis://h?profile=other":      "option profile is neither redisson nor redlock",
		"redis://h?pubsub=other":       "option pubsub",
		"redis://h?semaphores=x":       "option semaphores is neither expirable nor plain",
	} {
		if _, err := Parse(url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
}

// TestWhatTheBackendTakesAURLTakes: limits of its own refused what programs may ask for.
func TestWhatTheBackendTakesAURLTakes(t *testing.T) {
	for url, want := range map[string]redislock.Options{
		"redis://h?acks=0":               {},
		"redis://h?acks=1000":            {Acks: redislock.MaxAcks},
		"redis://h?ttl=10ms":             {Lock: lock.Options{TTL: lock.MinTTL}},
		"redis://h?ttl=24h":              {Lock: lock.Options{TTL: lock.MaxTTL}},
		"redis://h?ack-timeout=1ms":      {AckTimeout: redislock.MinAckTimeout},
		"redis://h?ack-timeout=24h":      {AckTimeout: redislock.MaxAckTimeout},
		"redis://h?token-ttl=1ms":        {TokenTTL: redislock.MinTokenTTL},
		"redis://h?token-ttl=2562047h":   {TokenTTL: 2562047 * time.Hour},
		"redis://h?acks=all&pubsub=auto": {Acks: redislock.AckAll},
		"redis://h?semaphores=plain":     {Semaphores: redislock.RSemaphore},
		"redis://h?semaphores=expirable": {},
	} {
		backend, err := New(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if diff := cmp.Diff(want, backend.loc.Redis().Options); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", url, diff)
		}
		session, err := backend.Open(lock.Options{})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if err := session.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestTheURLsTTLIsADefault: the program that asks knows better, also when it asks for less.
func TestTheURLsTTLIsADefault(t *testing.T) {
	location, err := Parse("redis://h?ttl=5s&acks=all&token-ttl=48h")
	if err != nil {
		t.Fatal(err)
	}
	meta := map[string]string{"by": "me"}
	for asked, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, time.Second: time.Second, time.Hour: time.Hour,
	} {
		got := location.Redis().LockOptions(lock.Options{TTL: asked, Meta: meta})
		if diff := cmp.Diff(&redislock.Options{
			Lock: lock.Options{TTL: want, Meta: meta}, Acks: redislock.AckAll, TokenTTL: 48 * time.Hour,
		}, got); diff != "" {
			t.Errorf("asked for %s: (-want +got)\n%s", asked, diff)
		}
	}
	if location.Redis().Options.Lock.Meta != nil {
		t.Error("what one client asked for is kept for the next")
	}
}
